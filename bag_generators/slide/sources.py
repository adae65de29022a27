"""The pixels of an opened slide, level by level: OpenSlide's, or those of a plain picture with levels made here.

Nothing else of the file is ever read: its label, its overview photograph and its texts may name a patient.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import cv2
import numpy as np

from bag_generators.base.errors import InputError
from bag_generators.base.formats import FORMATS, MAX_BYTES, extensions, formats_in_words
from bag_generators.reading.decoding import decode, detect_kind, refuse_if_too_many_bytes
from bag_generators.reading.scale import SMALLEST
from bag_generators.slide.folder import MIRAX

if TYPE_CHECKING:
    from openslide import OpenSlide

_SMALLEST_LEVEL = 512
_KEPT_BYTES = 2**24  # unpacked pieces of an open slide; OpenSlide would keep twice as much
_COARSEST = 20.0
"""µm per pixel: beyond, it is the resolution of a screen or printer that a program wrote unasked."""
_NO_OPENSLIDE = (
    "Whole slides can't be read here: OpenSlide is not installed.",
    "Run “python -m pip install openslide-python openslide-bin”.",
)


class Source(Protocol):
    """An opened slide."""

    levels: tuple[tuple[int, int, float], ...]
    """Width, height and downsampling of each level, the largest first."""
    microns_per_pixel: float | None

    def read(self, level: int, x: int, y: int, width: int, height: int) -> np.ndarray:
        """(height, width, 3) uint8 from x, y on, all in pixels of the level; white beyond the edges."""

    def close(self) -> None: ...


def open_source(path: Path, called: str) -> Source:
    """The slide or picture in a file; `called` names it in a refusal."""
    with path.open("rb") as file:
        head = file.read(1024)
    damaged = InputError(f"{called} is incomplete or damaged.", "Copy it again from where it came from.")
    found = _whole_slide(path, damaged)
    if found is not None:
        return found
    if path.suffix.lower() in MIRAX:  # by itself a photograph of the glass with its label, which nobody shall see
        missing = f"{called} is not whole: the folder “{path.stem}” is missing or incomplete."
        raise InputError(missing, "Put the folder beside it.")
    kind = detect_kind(head)
    if kind in FORMATS:
        size = path.stat().st_size
        if size <= MAX_BYTES:
            return PlainPicture(path.read_bytes())
        refuse_if_too_many_bytes(size, head)
    if not head:
        raise InputError(f"{called} is empty.", "Copy it again from where it came from.")
    kinds = f"it looks like {kind}" if kind else "its kind is unknown"
    raise InputError(
        f"{called} is no slide we can read: {kinds}.", f"Give a whole slide or a {formats_in_words()} picture."
    )


def _whole_slide(path: Path, damaged: InputError) -> WholeSlide | None:
    """The slide, None where OpenSlide knows no such format, `damaged` where it knows it and can't open this one."""
    try:
        import openslide
    except (ImportError, OSError):  # OSError: the package without its library
        if path.suffix.lower() not in extensions():
            raise InputError(*_NO_OPENSLIDE) from None
        return None
    try:
        if openslide.OpenSlide.detect_format(path) is None:
            return None
        slide = openslide.OpenSlide(path)
        slide.set_cache(openslide.OpenSlideCache(_KEPT_BYTES))
        return WholeSlide(slide)
    except openslide.OpenSlideUnsupportedFormatError:
        return None
    except (openslide.OpenSlideError, ValueError):
        raise damaged from None


class WholeSlide:
    """A file that OpenSlide reads."""

    def __init__(self, slide: OpenSlide) -> None:
        self._slide = slide
        sizes = zip(slide.level_dimensions, slide.level_downsamples, strict=True)
        self.levels = tuple((width, height, downsample) for (width, height), downsample in sizes)
        self.microns_per_pixel = _microns(slide.properties.get("openslide.mpp-x"))
        down = _microns(slide.properties.get("openslide.mpp-y"))
        if self.microns_per_pixel and down:
            self.microns_per_pixel = math.sqrt(self.microns_per_pixel * down)

    def read(self, level: int, x: int, y: int, width: int, height: int) -> np.ndarray:
        downsample = self.levels[level][2]
        corner = (round(x * downsample), round(y * downsample))
        rgba = np.asarray(self._slide.read_region(corner, level, (width, height)))
        pixels, alpha = rgba[:, :, :3], rgba[:, :, 3]
        if alpha.min() < 255:
            pixels = np.where(alpha[:, :, None] == 0, np.uint8(255), pixels)
        return np.ascontiguousarray(pixels)

    def close(self) -> None:
        self._slide.close()


class PlainPicture:
    """A picture of one of our own formats, halved again and again for its levels."""

    def __init__(self, data: bytes) -> None:
        pixels, _, scale = decode(data)
        self.microns_per_pixel = scale.microns_per_pixel
        self._pixels = [pixels]
        while max(self._pixels[-1].shape[:2]) > 2 * _SMALLEST_LEVEL and min(self._pixels[-1].shape[:2]) > 2:
            height, width = self._pixels[-1].shape[:2]
            half = cv2.resize(
                self._pixels[-1][: height & ~1, : width & ~1], (width // 2, height // 2), None, 0, 0, cv2.INTER_AREA
            )
            self._pixels.append(np.asarray(half))
        self.levels = tuple(
            (level.shape[1], level.shape[0], float(2**number)) for number, level in enumerate(self._pixels)
        )

    def read(self, level: int, x: int, y: int, width: int, height: int) -> np.ndarray:
        whole = self._pixels[level]
        out = np.full((height, width, 3), 255, np.uint8)
        left, top = max(x, 0), max(y, 0)
        part = whole[top : max(y + height, 0), left : max(x + width, 0)]
        out[top - y : top - y + part.shape[0], left - x : left - x + part.shape[1]] = part
        return out

    def close(self) -> None:
        self._pixels.clear()


def _microns(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if SMALLEST <= value <= _COARSEST else None
