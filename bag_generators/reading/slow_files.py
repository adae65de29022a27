"""Files that are small enough but made of so many parts that a reader would be busy for minutes.

Pillow walks through the parts of a header one by one in Python, and two of its readers do the same with pixels.
The limits are far above what cameras, scanners and image programs write; the parts are counted, not read.
"""

from __future__ import annotations

import struct

from bag_generators.reading.tiff_pages import directories

MOST_PNG_CHUNKS = 50_000
MOST_JPEG_SEGMENTS = 10_000
MOST_JPEG_SCANS = 500
MOST_TIFF_ENTRIES = 4_096
MOST_TIFF_STRIPS = 200_000
MOST_RUN_LENGTH_PIXELS = 4_000_000
MOST_RUN_LENGTH_BYTES = 4 * 2**20

_PNG_CHUNK = struct.Struct(">I4s")
_START_OF_SCAN, _NO_LENGTH = 0xDA, (0x01, *range(0xD0, 0xDA))  # markers of a JPEG
_STRIP_OFFSETS, _TILE_OFFSETS = 273, 324  # tags of a TIFF


def why_slow(kind: str, data: bytes) -> str | None:
    """A sentence on what there is too much of in a picture of this kind, or None."""
    too_many = _TOO_MANY[kind](data) if kind in _TOO_MANY else None
    return too_many and f"The {kind} picture is made of too many parts: {too_many}."


def _png(data: bytes) -> str | None:
    position, last = 8, len(data) - 8
    for _ in range(MOST_PNG_CHUNKS):
        if position > last:
            return None
        length, name = _PNG_CHUNK.unpack_from(data, position)
        if name == b"IEND":
            return None
        position += 12 + length
    return f"more than {MOST_PNG_CHUNKS:,} chunks"


def _jpeg(data: bytes) -> str | None:
    if data.count(b"\xff\xda") > MOST_JPEG_SCANS:
        return f"more than {MOST_JPEG_SCANS:,} scans"
    position = 0
    for _ in range(MOST_JPEG_SEGMENTS):
        if position + 4 > len(data):
            return None
        marker = data[position + 1]
        if data[position] != 0xFF or marker in (0x00, 0xFF):
            position += 1  # filling or rubbish, which readers pass over byte by byte
        elif marker == _START_OF_SCAN:
            return None
        elif marker in _NO_LENGTH:
            position += 2
        else:
            position += 2 + max(2, int.from_bytes(data[position + 2 : position + 4], "big"))
    return f"more than {MOST_JPEG_SEGMENTS:,} segments"


def _tiff(data: bytes) -> str | None:
    page = next(directories(data), None)
    if page is None:
        return None
    if page.entries > MOST_TIFF_ENTRIES:
        return f"more than {MOST_TIFF_ENTRIES:,} tags"
    counts = page.counts()
    if max(counts.get(_STRIP_OFFSETS, 0), counts.get(_TILE_OFFSETS, 0)) > MOST_TIFF_STRIPS:
        return f"more than {MOST_TIFF_STRIPS:,} strips or tiles"
    return None


def _bmp(data: bytes) -> str | None:
    """Run-length coded ones are the only pixels that Pillow unpacks in Python."""
    if len(data) < 34 or struct.unpack_from("<I", data, 30)[0] not in (1, 2):
        return None
    width, height = struct.unpack_from("<ii", data, 18)
    if abs(width * height) > MOST_RUN_LENGTH_PIXELS or len(data) > MOST_RUN_LENGTH_BYTES:
        return f"run-length coding of more than {MOST_RUN_LENGTH_PIXELS:,} pixels"
    return None


_TOO_MANY = {"PNG": _png, "JPEG": _jpeg, "TIFF": _tiff, "BMP": _bmp}
