"""Runs kept for a visitor who comes back: a reload ends the visit, not the training."""

import threading
import time
from dataclasses import dataclass, field

from ui.train.worker import TrainingRun

KEPT_SECONDS = 600.0  # after the visitor was last seen
MOST_KEPT = 32


@dataclass
class _Kept:
    run: TrainingRun
    number: int
    seen: float = field(default_factory=time.monotonic)


class KeptRuns:
    """The latest run of every visitor on every page that trains."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], _Kept] = {}
        self._lock = threading.Lock()

    def keep(self, visitor: str, page: str, run: TrainingRun, number: int) -> None:
        """Keep a run, the visitor's `number`th, in place of the one before; those nobody returns to make room."""
        with self._lock:
            self._kept.pop((visitor, page), None)
            self._kept[visitor, page] = _Kept(run, number)
            self._drop_old()

    def come_back(self, visitor: str, page: str) -> tuple[TrainingRun, int] | None:
        """The run to go on with and its number; None when there is none, or another tab is watching it."""
        with self._lock:
            self._drop_old()
            kept = self._kept.get((visitor, page))
            if kept is None or kept.run.is_watched():
                return None
            kept.seen = time.monotonic()
            return kept.run, kept.number

    def _drop_old(self) -> None:
        now = time.monotonic()
        for name, kept in list(self._kept.items()):
            if kept.run.is_watched():
                kept.seen = now
            elif now - kept.seen > KEPT_SECONDS and not kept.run.alive:
                del self._kept[name]
        while len(self._kept) > MOST_KEPT:
            del self._kept[min(self._kept, key=lambda name: self._kept[name].seen)]
