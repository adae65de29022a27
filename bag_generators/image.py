"""A tissue picture as every other part of the project knows it, and the one door it comes in through."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from bag_generators.base.errors import InputError, shown_name
from bag_generators.base.formats import MAX_BYTES
from bag_generators.reading.decoding import decode, refuse_if_too_many_bytes

SIDE = 224
"""Side of the working copy in pixels: the paper's tiles."""
SMALLEST = 64
LONGEST_ASPECT = 8
# Opening a named pipe would otherwise wait for ever for somebody to write into it.
_READ_WITHOUT_WAITING = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


@dataclass(frozen=True, eq=False)
class TissueImage:
    """An upright RGB picture. Build one with `load` or `TissueImage.from_array`."""

    pixels: np.ndarray
    """(H, W, 3) uint8, contiguous, read-only."""
    sha256: str
    """Of the bytes it was loaded from; of shape and pixels when it was made from an array or is a tile."""
    notes: tuple[str, ...] = ()
    """What was converted on loading, one sentence each, for a person."""
    microns_per_pixel: float | None = None
    """As the file or a person says; None where nobody does."""
    scale_source: str = ""
    """Who says so, such as “TIFF resolution”; empty where nobody does."""

    def __post_init__(self) -> None:
        self.pixels.flags.writeable = False

    def __reduce__(self) -> tuple[Any, ...]:
        # Arrays come back writable from another process or a cache; the constructor locks them again.
        return TissueImage, (self.pixels, self.sha256, self.notes, self.microns_per_pixel, self.scale_source)

    @cached_property
    def working_copy(self) -> np.ndarray:
        """(224, 224, 3) uint8, read-only, made once: what most generators see. Refuses what is too small or long."""
        copy = working_copy(self.pixels)
        copy.flags.writeable = False
        return copy

    @property
    def height(self) -> int:
        return int(self.pixels.shape[0])

    @property
    def width(self) -> int:
        return int(self.pixels.shape[1])

    @classmethod
    def from_array(cls, pixels: np.ndarray, notes: tuple[str, ...] = ()) -> TissueImage:
        """Copy an (H, W, 3) uint8 array; the array itself stays writable and unconnected.

        >>> TissueImage.from_array(np.zeros((4, 6, 3), np.uint8)).width
        6
        """
        if pixels.ndim != 3 or pixels.shape[2] != 3 or pixels.dtype != np.uint8 or pixels.size == 0:
            raise InputError(
                f"The array has shape {pixels.shape} and type {pixels.dtype}.",
                "Give a picture of shape (height, width, 3) and type uint8.",
            )
        own = np.array(pixels, order="C")
        digest = hashlib.sha256(repr(own.shape).encode())
        digest.update(own.data)
        return cls(own, digest.hexdigest(), notes)

    def tile(self, x: int, y: int, size: int) -> TissueImage:
        """The square field of view with the upper left corner (x, y), in pixels; it keeps notes and scale."""
        if size < 1 or x < 0 or y < 0 or x + size > self.width or y + size > self.height:
            raise InputError(
                f"A tile of {size} px at ({x}, {y}) does not lie inside the picture "
                f"of {self.width} × {self.height} px.",
                "Choose a smaller tile or another place.",
            )
        part = TissueImage.from_array(self.pixels[y : y + size, x : x + size], self.notes)
        return part.at_scale(self.microns_per_pixel, self.scale_source)

    def at_scale(self, microns_per_pixel: float | None, source: str) -> TissueImage:
        """The same picture with the scale that somebody else than the file knows."""
        return replace(self, microns_per_pixel=microns_per_pixel, scale_source=source)


def load(source: bytes | str | os.PathLike[str], sha256: str | None = None) -> TissueImage:
    """Read a picture of any of our formats (`bag_generators.base.formats`) from a path or from the bytes of an upload.

    Whatever the file holds, the outcome is a picture or an `InputError`; no Python warning is printed (libtiff
    itself writes a line about a damaged TIFF to stderr). No state of Pillow is changed: threads may load at once.
    `sha256` is that of the bytes, for those who know it already.
    """
    data = bytes(source) if isinstance(source, (bytes, bytearray, memoryview)) else _read(source)
    pixels, notes, scale = decode(data)
    return TissueImage(pixels, sha256 or hashlib.sha256(data).hexdigest(), notes, *scale)


def tiles(image: TissueImage, size: int, stride: int | None = None) -> Iterator[tuple[int, int, TissueImage]]:
    """Walk a large picture: (x, y, tile) from left to right, then from top to bottom; whole tiles only.

    `stride` is the step in pixels and equals `size` unless given. A picture smaller than a tile has none.
    """
    step = size if stride is None else stride
    if size < 1 or step < 1:
        raise InputError(f"The tile size {size} and the step {step} must be at least 1 px.", "Give larger numbers.")
    for y in range(0, image.height - size + 1, step):
        for x in range(0, image.width - size + 1, step):
            yield x, y, image.tile(x, y, size)


def working_copy(pixels: np.ndarray) -> np.ndarray:
    """Bring (H, W, 3) uint8 to (224, 224, 3).

    Sides longer than 224 px shrink by area averaging, shorter ones grow by linear interpolation; a 224×224
    picture is returned as it is.
    """
    height, width = pixels.shape[:2]
    check_size(height, width)
    shrunk = (min(width, SIDE), min(height, SIDE))
    if shrunk != (width, height):
        pixels = cv2.resize(pixels, shrunk, interpolation=cv2.INTER_AREA)
    if shrunk != (SIDE, SIDE):
        pixels = cv2.resize(pixels, (SIDE, SIDE), interpolation=cv2.INTER_LINEAR)
    return pixels


def check_size(height: int, width: int) -> None:
    """Refuse a picture that is too small or too long for a bag."""
    if min(height, width) < SMALLEST:
        raise InputError(
            f"The picture is {width}×{height} px; a bag needs at least {SMALLEST}×{SMALLEST} px.",
            "Choose a larger picture or export the region at a higher magnification.",
        )
    if max(height, width) > LONGEST_ASPECT * min(height, width):
        raise InputError(
            f"The picture is {width}×{height} px, more than {LONGEST_ASPECT} times as long as it is wide.",
            "Cut a part that is closer to a square.",
        )


def _read(path: str | os.PathLike[str]) -> bytes:
    """The bytes of a regular file of bearable size. At most one byte more than allowed is ever read."""
    name = shown_name(Path(os.fspath(path)).name or os.fspath(path), 60)
    try:
        with os.fdopen(os.open(path, _READ_WITHOUT_WAITING), "rb") as file:
            about = os.fstat(file.fileno())
            if not stat.S_ISREG(about.st_mode):
                raise InputError(f"“{name}” is not a file.", "Choose a picture file.")
            head = file.read(MAX_BYTES + 1) if about.st_size <= MAX_BYTES else file.read(64)
            refuse_if_too_many_bytes(max(about.st_size, len(head)), head)
            return head
    except FileNotFoundError:
        raise InputError(f"There is no file “{name}”.", "Check the path.") from None
    except IsADirectoryError:
        raise InputError(f"“{name}” is a folder.", "Choose a picture file inside it.") from None
    except PermissionError:
        raise InputError(f"The file “{name}” may not be read.", "Change its permissions or choose another.") from None
    except InputError:
        raise
    except (OSError, ValueError):  # ValueError: a NUL in the name
        raise InputError(f"The file “{name}” can't be read.", "Check the path or choose another file.") from None
