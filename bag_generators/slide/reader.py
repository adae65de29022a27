"""What a reading process does: keep a few slides open and answer with facts and pixels, within limits.

Any region at any scale is one kind of question: the pixels of a rectangle, drawn to so many pixels.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from bag_generators.base.errors import InputError
from bag_generators.base.formats import (
    MAX_SLIDE_PIXELS,
    MAX_SLIDE_SIDE,
    MOST_OPEN_SLIDES,
    MOST_OVERVIEW_SECONDS,
    MOST_READ_FOR_ONE_PIECE,
    MOST_READER_BYTES,
    MOST_READER_SECONDS,
    MOST_SLIDE_PIECE,
)
from bag_generators.base.pool import limited
from bag_generators.slide.sources import Source, open_source

_BLOCK = 2048  # px a side that are read at once
_LONG = _BLOCK * _BLOCK * 4  # px: what takes a while

State = tuple[int, int]
"""Time of the last change and bytes: a slide with another state is another slide."""


@dataclass(frozen=True)
class Facts:
    """What is known of a slide besides its pixels."""

    levels: tuple[tuple[int, int, float], ...]
    microns_per_pixel: float | None


@dataclass(frozen=True)
class SlideTask:
    """A rectangle of a slide (x, y, width, height in pixels of level 0) drawn to `out` (width, height) pixels.

    Without a rectangle it is a question for the facts.
    """

    path: str
    state: State
    box: tuple[float, float, float, float] | None = None
    out: tuple[int, int] = (0, 0)


_opened: OrderedDict[tuple[str, State], Source] = OrderedDict()


def carry_out_on_slide(question: SlideTask) -> Facts | np.ndarray:
    """The facts, or (height, width, 3) uint8 pixels; white beyond the edges of the slide."""
    is_long = question.box is not None and question.box[2] * question.box[3] > _LONG
    seconds = MOST_OVERVIEW_SECONDS if is_long else MOST_READER_SECONDS
    name = f"The slide “{Path(question.path).name}”"
    if state_of(question.path) != question.state:
        raise InputError(f"{name} has changed since it was opened.", "Open it again.")
    try:
        with limited(seconds, MOST_READER_BYTES):
            source = _source(question, name)
            if question.box is None:
                return Facts(source.levels, source.microns_per_pixel)
            return _drawn(source, question.box, question.out, name)
    except InputError:
        raise
    except MemoryError:
        raise InputError(f"Reading {name[:1].lower()}{name[1:]} takes too much memory.", _EXPORT) from None
    except Exception:  # OpenSlide's error, or what a broken file makes of its values
        _forget(question)
        raise InputError(f"{name} is damaged: a part of it can't be read.", "Copy it again.") from None


def state_of(path: str) -> State:
    """Refuses a file that is not there, or no file."""
    name = Path(path).name
    try:
        about = Path(path).stat()
    except (OSError, ValueError):
        raise InputError(f"The slide “{name}” is not there, or may not be read.", "Check its name.") from None
    if not Path(path).is_file():
        raise InputError(f"“{name}” is no file.", "Choose a slide.")
    return about.st_mtime_ns, about.st_size


_EXPORT = "Export a part of it, or a smaller copy, as a pyramidal TIFF."


def _source(question: SlideTask, name: str) -> Source:
    key = (question.path, question.state)
    if key in _opened:
        _opened.move_to_end(key)
        return _opened[key]
    source = open_source(Path(question.path), name)
    _check_size(source, name)
    while len(_opened) >= MOST_OPEN_SLIDES:
        _opened.popitem(last=False)[1].close()
    _opened[key] = source
    return source


def _forget(question: SlideTask) -> None:
    """OpenSlide refuses everything after its first failure on a slide, so that it has to be opened again."""
    if (source := _opened.pop((question.path, question.state), None)) is not None:
        source.close()


def _check_size(source: Source, name: str) -> None:
    if not source.levels:
        raise InputError(f"{name} has no levels.", _EXPORT)
    width, height, _ = source.levels[0]
    if min(width, height) < 1:
        raise InputError(f"{name} has no pixels ({width} × {height}).", "Copy it again.")
    if max(width, height) > MAX_SLIDE_SIDE or width * height > MAX_SLIDE_PIXELS:
        raise InputError(
            f"{name} says it has {width:,} × {height:,} pixels, more than any scanner makes.",
            "Export it again, or choose another.",
        )
    for wide, high, _ in source.levels[1:]:
        across, down = width / max(wide, 1), height / max(high, 1)
        if abs(across - down) > 0.02 * across + across * down * 2 / min(width, height):  # a pixel more or less
            raise InputError(
                f"{name} says that its levels have different shapes ({width:,} × {height:,} and {wide:,} × {high:,}).",
                "Copy or export it again.",
            )


def _drawn(source: Source, box: tuple[float, float, float, float], out: tuple[int, int], name: str) -> np.ndarray:
    """Block by block, so that memory does not grow with the rectangle."""
    x, y, width, height = box
    columns, rows = out
    scale_x, scale_y = width / columns, height / rows
    scale = min(scale_x, scale_y) * 1.001
    fitting = [number for number, (_, _, downsample) in enumerate(source.levels) if downsample <= scale]
    level = max(fitting, key=lambda number: source.levels[number][2], default=0)  # the smallest with every pixel
    downsample = source.levels[level][2]
    if columns * rows > MOST_SLIDE_PIECE:
        raise InputError(f"{columns:,} × {rows:,} pixels are too many at once.", "Ask for a smaller part.")
    if width * height / downsample**2 > MOST_READ_FOR_ONE_PIECE:
        raise InputError(f"{name} has no smaller copies of itself (levels) to look at.", _EXPORT)
    wide = max(1, math.floor(_BLOCK * downsample / scale_x))
    high = max(1, math.floor(_BLOCK * downsample / scale_y))
    drawn = np.empty((rows, columns, 3), np.uint8)
    for top in range(0, rows, high):
        for left in range(0, columns, wide):
            part = drawn[top : top + high, left : left + wide]
            x0, y0 = x + left * scale_x, y + top * scale_y
            x1, y1 = x0 + part.shape[1] * scale_x, y0 + part.shape[0] * scale_y
            part[:] = _resampled(source, level, (x0, y0, x1, y1), (part.shape[1], part.shape[0]))
    return drawn


def _resampled(
    source: Source, level: int, corners: tuple[float, float, float, float], out: tuple[int, int]
) -> np.ndarray:
    downsample = source.levels[level][2]
    x0, y0, x1, y1 = (corner / downsample for corner in corners)
    left, top = math.floor(x0 + 1e-6), math.floor(y0 + 1e-6)
    pixels = source.read(level, left, top, max(1, math.ceil(x1 - left - 1e-6)), max(1, math.ceil(y1 - top - 1e-6)))
    if pixels.shape[1::-1] == out:
        return pixels
    shrinks = pixels.shape[1] >= out[0] and pixels.shape[0] >= out[1]
    return np.asarray(cv2.resize(pixels, out, interpolation=cv2.INTER_AREA if shrinks else cv2.INTER_LINEAR))
