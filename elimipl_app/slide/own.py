"""Slides a visitor brings along: kept as files of names we choose, a few for each visitor, until the server ends."""

from __future__ import annotations

import secrets
import shutil
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from bag_generators import InputError
from bag_generators.slide import open_slide
from elimipl_app.server.work_folder import work_folder

MOST_OWN = 3
"""Slides of one visitor; the oldest makes room."""
MOST_KEPT = 20
"""Slides of all visitors."""


@dataclass(frozen=True)
class OwnSlide:
    """A slide of one visitor: its number in the visit, what the person calls it, and the file."""

    visitor: str
    number: int
    name: str
    path: Path


class OwnSlides:
    """All slides that visitors brought, in a folder that goes with the program."""

    def __init__(self, folder: Path, most_own: int = MOST_OWN, most_kept: int = MOST_KEPT) -> None:
        self._folder, self._most_own, self._most_kept = folder, most_own, most_kept
        self._slides: OrderedDict[str, OwnSlide] = OrderedDict()
        self._counts: dict[str, int] = {}
        self._lock = threading.Lock()

    def of(self, visitor: str) -> tuple[OwnSlide, ...]:
        """One visitor's slides, the oldest first."""
        with self._lock:
            return tuple(slide for slide in self._slides.values() if slide.visitor == visitor)

    def add(self, visitor: str, name: str, ending: str, write: Callable[[Path], object]) -> OwnSlide:
        """Keep a slide that `write` puts into a file and that can be opened; otherwise nothing stays behind.

        `ending` is one of ours, never a part of a visitor's text.
        """
        key = secrets.token_hex(16)
        path = self._folder / key / f"slide{ending}"
        try:
            path.parent.mkdir(parents=True)
            write(path)
            open_slide(path)
        except OSError:
            self._delete(path)
            raise InputError(
                "The slide could not be kept: the server's disk is full, or may not be written to.",
                "Forget slides you no longer need, or tell who runs the server.",
            ) from None
        except BaseException:
            self._delete(path)
            raise
        with self._lock:
            self._counts[visitor] = self._counts.get(visitor, 0) + 1
            self._slides[key] = OwnSlide(visitor, self._counts[visitor], name, path)
            mine = [one for one, slide in self._slides.items() if slide.visitor == visitor]
            too_many = mine[: -self._most_own] + list(self._slides)[: -self._most_kept]
            dropped = [self._slides.pop(one) for one in dict.fromkeys(too_many)]
        for slide in dropped:
            self._delete(slide.path)
        return self._slides[key]

    def forget(self, visitor: str) -> None:
        """Delete all slides of a visitor."""
        with self._lock:
            mine = [one for one, slide in self._slides.items() if slide.visitor == visitor]
            dropped = [self._slides.pop(one) for one in mine]
        for slide in dropped:
            self._delete(slide.path)

    def _delete(self, path: Path) -> None:
        shutil.rmtree(path.parent, ignore_errors=True)


@cache
def own_slides() -> OwnSlides:
    """The slides of all visitors of this server."""
    return OwnSlides(work_folder() / "slides")
