"""Walk the segments of a JPEG up to its end, which is not always the end of the file.

Phones put a film or a depth map behind the picture; what looks like a marker there is none.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

MOST_JPEG_SEGMENTS = 10_000
EXIF, PROFILE = b"Exif\0\0", b"ICC_PROFILE\0"

_START_OF_SCAN, _END = 0xDA, 0xD9
_NO_LENGTH = (0x01, *range(0xD0, 0xDA))
# Pillow reads on right behind these, whatever length follows: what hides in them is found by it, so by us as well.
_NO_LENGTH_IN_HEADER = frozenset({*_NO_LENGTH, 0xC8, *range(0xF0, 0xFE)})
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_SEQUENTIAL = (0xC0, 0xC1, 0xC3, 0xC9, 0xCB)
# Between coded pixels, FF 00 is a value and FF D0 to FF D7 begin the next part of the same scan.
_MARKER_BETWEEN_PIXELS = re.compile(rb"\xff[\x01-\xcf\xd8-\xfe]")


class Segment(NamedTuple):
    """A marker and where its content lies in the file, which begins with two bytes of length."""

    marker: int
    start: int
    end: int


@dataclass(frozen=True)
class Frame:
    """What the header says about the pixels."""

    width: int
    height: int
    sampling: tuple[tuple[int, int], ...]
    """Across and down, for each colour."""
    progressive: bool


@dataclass(frozen=True)
class Outline:
    """The segments before the first scan, and how many scans there are (one where nobody counted)."""

    header: tuple[Segment, ...]
    scans: int
    complete: bool
    """False where the walk was given up: more than `MOST_JPEG_SEGMENTS` segments or filling bytes."""

    def frame(self, data: bytes) -> Frame | None:
        """The first frame header, None where there is none or it breaks off."""
        for segment in self.header:
            if segment.marker in _FRAMES:
                return _frame(segment.marker, data[segment.start + 2 : segment.end])
        return None


def outline(data: bytes, count_scans: bool = False) -> Outline:
    """What readers would walk through; the parts themselves are not read, and behind the header only for the count."""
    header: list[Segment] = []
    position = 0
    for _ in range(MOST_JPEG_SEGMENTS):
        if position + 4 > len(data):
            return Outline(tuple(header), 0, complete=True)
        marker = data[position + 1]
        if data[position] != 0xFF or marker in (0x00, 0xFF):
            position += 1  # filling or rubbish, which readers pass over byte by byte
        elif marker in _NO_LENGTH_IN_HEADER:
            position += 2
        else:
            start = position + 2
            position = start + _length(data, start)
            header.append(Segment(marker, start, position))
            if marker == _START_OF_SCAN:
                found = Outline(tuple(header), 1, complete=True)
                return _with_scans(data, position, found.header) if count_scans else found
    return Outline(tuple(header), 0, complete=False)


def without_camera_data(data: bytes, found: Outline) -> bytes:
    """A copy for Pillow, which would read all camera data on opening; the file itself is not touched."""
    kept, position = [], 0
    for segment in found.header:
        if segment.marker == 0xE1 and data.startswith(EXIF, segment.start + 2):
            kept.append(data[position : segment.start - 2])
            position = segment.end
    return b"".join([*kept, data[position:]]) if kept else data


def camera_data(data: bytes, found: Outline) -> bytes | None:
    """The first segment of camera data; a second one is no place for the orientation."""
    for segment in found.header:
        if segment.marker == 0xE1 and data.startswith(EXIF, segment.start + 2):
            return data[segment.start + 2 : segment.end]
    return None


def _with_scans(data: bytes, position: int, header: tuple[Segment, ...]) -> Outline:
    scans = 1
    for _ in range(MOST_JPEG_SEGMENTS):
        found = _MARKER_BETWEEN_PIXELS.search(data, position)
        marker = data[found.start() + 1] if found else _END
        if found is None or marker == _END:
            return Outline(header, scans, complete=True)
        position = found.end() + (0 if marker < 0xC0 or marker in _NO_LENGTH else _length(data, found.end()))
        scans += marker == _START_OF_SCAN
    return Outline(header, scans, complete=False)


def _length(data: bytes, start: int) -> int:
    return max(2, int.from_bytes(data[start : start + 2], "big"))


def _frame(marker: int, content: bytes) -> Frame | None:
    if len(content) < 6 or len(content) < 6 + 3 * content[5]:
        return None
    sampling = tuple((max(1, b >> 4), max(1, b & 15)) for b in content[7 : 6 + 3 * content[5] : 3])
    width, height = int.from_bytes(content[3:5], "big"), int.from_bytes(content[1:3], "big")
    return Frame(width, height, sampling, progressive=marker not in _SEQUENTIAL)
