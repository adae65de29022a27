"""The regions of every browser on every slide; they outlive a reload and go with the server."""

import threading
from collections import OrderedDict

from bag_generators import InputError
from ui.slide.regions.region import MOST_REGIONS, Region

MOST_KEPT = 200
"""Slides whose regions are kept, of all visitors together; those that were changed least recently make room."""


class KeptRegions:
    """Regions by visitor and slide."""

    def __init__(self, most_kept: int = MOST_KEPT) -> None:
        self._most_kept = most_kept
        self._kept: OrderedDict[tuple[str, str], tuple[Region, ...]] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, visitor: str, slide_id: str) -> tuple[Region, ...]:
        """What one visitor has on one slide."""
        return self._kept.get((visitor, slide_id), ())

    def keep(self, visitor: str, slide_id: str, regions: tuple[Region, ...]) -> None:
        """Put these in place of what there was; too many are refused and change nothing."""
        if len(regions) > MOST_REGIONS:
            raise InputError(f"{len(regions)} regions are too many for one slide.", f"Keep at most {MOST_REGIONS}.")
        with self._lock:
            self._kept[visitor, slide_id] = regions
            self._kept.move_to_end((visitor, slide_id))
            while len(self._kept) > self._most_kept:
                self._kept.popitem(last=False)

    def forget(self, visitor: str) -> None:
        """Drop everything of a visitor."""
        with self._lock:
            for key in [key for key in self._kept if key[0] == visitor]:
                del self._kept[key]


kept_regions = KeptRegions()
"""Those of this server."""
