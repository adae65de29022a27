"""A slide as the rest of the project knows it: size, scale, levels, and the pixels of any part at any scale."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from bag_generators.base.errors import InputError
from bag_generators.base.formats import MOST_OVERVIEW_SECONDS, MOST_SECONDS_IN_LINE, MOST_SLIDE_READERS
from bag_generators.base.pool import OUT_OF_TIME, ProcessDiedError, Standbys
from bag_generators.image import TissueImage
from bag_generators.scale import Origin, ScaleDecision, by_hand_only, check_scale, decide_scale
from bag_generators.slide import reader
from bag_generators.slide.folder import dicom_in
from bag_generators.slide.reader import Facts, SlideTask, State
from bag_generators.slide.tissue import TissueGrid, find_tissue

USUAL_SCALES = (0.15, 1.1)
"""Micrometres per pixel of the largest level that scanners have (from 60× down to 10×)."""
_MOST_THUMBNAILS = 64
_LARGEST_KEPT = 1024  # px: 64 of them are 200 MB at most
_WINDOW, _ALONG = 320, 2
"""Windows of level 0 whose nuclei are measured, and how many along a side of the picture made of them."""


@dataclass(frozen=True)
class Slide:
    """An opened slide. Build one with `open_slide`. Any thread may use it; coordinates are pixels of level 0."""

    name: str
    """Of the file, or of the folder with the files of a DICOM slide; their own texts are never read."""
    path: Path
    state: State
    facts: Facts
    ask: Callable[[SlideTask], Any]
    scale_origin: Origin = "file"
    """Who says how large a pixel is, where it is known."""

    @property
    def width(self) -> int:
        return self.facts.levels[0][0]

    @property
    def height(self) -> int:
        return self.facts.levels[0][1]

    @property
    def microns_per_pixel(self) -> float | None:
        """Of level 0; None where the file does not say, or says what no microscope has."""
        return self.facts.microns_per_pixel

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person should know of the file, a sentence each."""
        microns = self.microns_per_pixel
        if microns is None:
            return ("The file does not say how large a pixel is on the slide.",)
        if not USUAL_SCALES[0] <= microns <= USUAL_SCALES[1]:
            return (f"The file says {microns:g} µm per pixel, which is unusual: sizes and areas may be wrong.",)
        return ()

    def with_scale(self, microns_per_pixel: float, origin: Origin = "by hand") -> Slide:
        """The same slide with a scale that its file does not state."""
        check_scale(microns_per_pixel)
        return replace(self, facts=Facts(self.facts.levels, microns_per_pixel), scale_origin=origin)

    def pixels(self, x: float, y: float, width: float, height: float, out: tuple[int, int]) -> np.ndarray:
        """A rectangle drawn to `out` (columns, rows): (rows, columns, 3) uint8, white beyond the edges."""
        if not (width > 0 and height > 0 and min(out) > 0 and all(map(math.isfinite, (x, y, width, height)))):
            raise InputError("This part of a slide has no pixels.", "Give a width and a height.")
        drawn: np.ndarray = self.ask(SlideTask(str(self.path), self.state, (x, y, width, height), out))
        return drawn

    def region(self, x: float, y: float, size: int, microns_per_pixel: float) -> np.ndarray:
        """The square from (x, y) on, `size` pixels of that scale along each side: (size, size, 3) uint8."""
        side = size * microns_per_pixel / self.scale()
        return self.pixels(x, y, side, side, (size, size))

    def overview(self, downsample: float) -> np.ndarray:
        """The whole slide, each pixel `downsample` pixels of level 0 along a side."""
        columns, rows = math.ceil(self.width / downsample), math.ceil(self.height / downsample)
        return self.pixels(0, 0, columns * downsample, rows * downsample, (columns, rows))

    def thumbnail(self, longest: int = 512) -> np.ndarray:
        """The whole slide, at most so many pixels along its longer side, never enlarged; read-only, small ones kept."""
        return _thumbnail(self, longest) if longest <= _LARGEST_KEPT else _thumbnail.__wrapped__(self, longest)

    def scale(self) -> float:
        """`microns_per_pixel`, or a refusal."""
        if self.microns_per_pixel is None:
            raise InputError(
                f"The slide “{self.name}” does not say how large its pixels are.",
                "Give the scale in µm per pixel, as the scanner's settings say it.",
            )
        return self.microns_per_pixel

    def tissue(self, size: int, microns_per_pixel: float) -> TissueGrid:
        """Which tiles of that size and scale show tissue, and why the others are left out."""
        return find_tissue(self.overview, (self.width, self.height), size * microns_per_pixel / self.scale())

    def __hash__(self) -> int:
        return hash((self.path, self.state))


def open_slide(path: str | os.PathLike[str], *, in_this_process: bool = False) -> Slide:
    """Open a whole slide or a large picture; a file that can't be used is refused with an `InputError`.

    The folder of a DICOM slide is opened as any of its files. It is read in a process of its own, with limits of
    memory and time. `in_this_process` is for worker processes, which may end by what they read.
    """
    named = Path(path).absolute()
    file = dicom_in(named) or named if named.is_dir() else named
    state = reader.state_of(str(file))
    ask: Callable[[SlideTask], Any] = reader.carry_out_on_slide if in_this_process else ask_reader
    return Slide(named.name, file, state, ask(SlideTask(str(file), state)), ask)


@lru_cache(maxsize=_MOST_THUMBNAILS)
def _thumbnail(slide: Slide, longest: int) -> np.ndarray:
    thumbnail = slide.overview(max(1.0, max(slide.width, slide.height) / longest))
    thumbnail.flags.writeable = False
    return thumbnail


def at_decided_scale(slide: Slide, by_hand: float | None = None) -> tuple[Slide, ScaleDecision]:
    """The slide with the scale by hand, else of its file, else by the nuclei in four windows, or the assumed one."""
    if by_hand is None and slide.microns_per_pixel is not None:
        return slide, ScaleDecision(slide.microns_per_pixel, slide.scale_origin, "the slide", None, doubted=False)
    if by_hand is not None:
        scale = by_hand_only(by_hand)
    else:
        side = min(_WINDOW, slide.width, slide.height)
        parts = [slide.pixels(x, y, side, side, (side, side)) for x, y in _dense_places(slide, side)]
        rows = [np.hstack(parts[start : start + _ALONG]) for start in range(0, _ALONG**2, _ALONG)]
        scale = decide_scale(TissueImage.from_array(np.vstack(rows)))
    return slide.with_scale(scale.microns_per_pixel, scale.origin), scale


def _dense_places(slide: Slide, side: int) -> list[tuple[int, int]]:
    """Corners of four windows among the parts with much haematoxylin, not only the darkest, which may be ink."""
    small = slide.thumbnail()
    shrunk = max(slide.width, slide.height) / max(small.shape[:2])
    cell = max(1, round(side / shrunk))
    size = max(1, small.shape[1] // cell), max(1, small.shape[0] // cell)
    red = cv2.resize(np.ascontiguousarray(small[..., 0]), size, interpolation=cv2.INTER_AREA)
    order = np.argsort(red, axis=None, kind="stable")
    chosen = order[(np.linspace(0, 0.2, _ALONG**2) * (len(order) - 1)).round().astype(int)]
    rows, columns = np.unravel_index(chosen, red.shape)
    right, bottom = slide.width - side, slide.height - side
    return [
        (min(round(column / size[0] * slide.width), right), min(round(row / size[1] * slide.height), bottom))
        for row, column in zip(rows.tolist(), columns.tolist(), strict=True)
    ]


_readers = Standbys(reader.carry_out_on_slide, MOST_SLIDE_READERS, 2 * MOST_OVERVIEW_SECONDS, MOST_SECONDS_IN_LINE)


def ask_reader(question: SlideTask) -> Any:
    """What a reading process answers; any thread may ask, and waits while all of them are busy."""
    try:
        return _readers.ask(question)
    except ProcessDiedError as death:
        raise unreadable(question.path, death.code) from None


def unreadable(path: str, code: int) -> InputError:
    """The sentence for a slide that ended the process that read it."""
    name = Path(path).name
    if code == OUT_OF_TIME:
        return InputError(f"Reading the slide “{name}” takes too long.", "Export it again as a pyramidal TIFF.")
    return InputError(
        f"Reading the slide “{name}” stopped the program that reads it.", "Export it again as a pyramidal TIFF."
    )
