"""A region of a slide: a name and an area in pixels of level 0; and those of every browser, which outlive a reload."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import shapely

from bag_generators import InputError
from bag_generators.base.errors import shown_name

MOST_REGIONS = 200
MOST_CORNERS = 20_000
"""Of one region."""
MOST_CROSSINGS = 500
"""Of the lines of all shapes that come together: repairing 5,000 takes eight seconds, and much longer from there on."""
_SEGMENTS_A_LOOK = 64
_DRAW_AGAIN = "Draw it again on the slide."


@dataclass(frozen=True)
class Region:
    """One region. `classification` is what another program, such as QuPath, called its kind."""

    number: int
    name: str
    area: shapely.Polygon | shapely.MultiPolygon
    classification: str | None = None

    def renamed(self, name: str) -> Region:
        """The same area under another name; an empty one changes nothing."""
        return replace(self, name=shown_name(name) or self.name)

    @property
    def rings(self) -> list[list[list[float]]]:
        """All outlines, holes included, not closed: what the viewer draws."""
        parts = shapely.get_parts(self.area)
        rings = [ring for part in parts for ring in (part.exterior, *part.interiors)]
        return [[list(corner) for corner in ring.coords[:-1]] for ring in rings]


def drawn_ring(sent: Any, width: int, height: int) -> shapely.Polygon | shapely.MultiPolygon:
    """The area inside the ring that a browser sent; a browser may send anything."""
    try:
        corners = [(float(x), float(y)) for x, y in sent]
    except (TypeError, ValueError, OverflowError):
        raise InputError("The region that was drawn has no corners.", _DRAW_AGAIN) from None
    if not 3 <= len(corners) <= MOST_CORNERS:
        raise InputError(f"A region of {len(corners):,} corners can't be used.", f"Give 3 to {MOST_CORNERS:,} corners.")
    ring = shapely.Polygon(_finite(corners))
    refuse_if_tangled([ring])
    return on_slide(ring, width, height)


def refuse_if_tangled(shapes: Iterable[Any]) -> None:
    """Refuse shapes whose lines cross so often that to repair them would take minutes; call it before `on_slide`."""
    left = MOST_CROSSINGS
    for shape in shapes:
        left -= 0 if shape.is_valid else _crossings(shape, left)
        if left < 0:
            raise InputError(f"The lines cross each other more than {MOST_CROSSINGS} times.", "Draw a simpler outline.")


def _crossings(shape: Any, enough: int) -> int:
    """How often the lines of a shape meet other than at common corners; the count ends once it is above `enough`."""
    rings = [shapely.get_coordinates(ring) for ring in shapely.get_rings(shapely.get_parts(shape))]
    lines = np.concatenate([np.stack([ring[:-1], ring[1:]], axis=1) for ring in rings])
    segments = shapely.linestrings(lines[(lines[:, 0] != lines[:, 1]).any(axis=1)])
    tree = shapely.STRtree(segments)
    met = 0
    for first in range(0, len(segments), _SEGMENTS_A_LOOK):
        some = segments[first : first + _SEGMENTS_A_LOOK]
        met += tree.query(some, predicate="intersects").shape[1] - 3 * len(some)  # itself and its two neighbours
        if met > 2 * enough:  # each is met from both sides
            break
    return max(0, met) // 2


def on_slide(shape: Any, width: int, height: int) -> shapely.Polygon | shapely.MultiPolygon:
    """The part of a shape that lies on the slide, made valid: a ring that crosses itself encloses both its loops."""
    repaired = shape if shape.is_valid else shapely.make_valid(shape)
    clipped = shapely.intersection(repaired, shapely.box(0, 0, width, height))
    polygons = [part for part in _polygons(clipped) if part.area > 0]
    if not polygons:
        raise InputError("The region has no area on this slide.", _DRAW_AGAIN)
    return polygons[0] if len(polygons) == 1 else shapely.MultiPolygon(polygons)


def _polygons(shape: Any) -> list[shapely.Polygon]:
    if isinstance(shape, shapely.Polygon):
        return [shape]
    return [polygon for part in getattr(shape, "geoms", ()) for polygon in _polygons(part)]


def _finite(corners: Sequence[tuple[float, float]]) -> Sequence[tuple[float, float]]:
    if not all(abs(value) < 1e9 for corner in corners for value in corner):  # NaN is not below anything, too
        raise InputError("A corner of the region lies nowhere.", _DRAW_AGAIN)
    return corners


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
