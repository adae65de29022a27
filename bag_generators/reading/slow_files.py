"""Files that are small enough but made of so many parts that a reader would be busy for minutes.

Pillow walks through the parts of a header one by one in Python, and two of its readers do the same with pixels.
The limits are far above what cameras, scanners and image programs write; the parts are counted, not read.
"""

from __future__ import annotations

import struct
from itertools import islice

from bag_generators.reading.jpeg_segments import MOST_JPEG_SEGMENTS, outline
from bag_generators.reading.png_chunks import chunks
from bag_generators.reading.tiff_layout import too_many_parts
from bag_generators.reading.tiff_pages import directories

MOST_PNG_CHUNKS = 50_000
MOST_JPEG_SCANS = 500
MOST_SCANNED_PIXELS = 10**9
"""Pixels times scans: every scan of a JPEG goes over the whole picture again."""
MOST_COEFFICIENT_BYTES = 340 * 10**6
"""What a decoder keeps of a JPEG of several scans until the last one, and the picture itself."""
MOST_TIFF_ENTRIES = 4_096
MOST_RUN_LENGTH_PIXELS = 4_000_000
MOST_RUN_LENGTH_BYTES = 2 * 2**20


def why_slow(kind: str, data: bytes) -> str | None:
    """A sentence on what there is too much of in a picture of this kind, or None."""
    too_many = _TOO_MANY[kind](data) if kind in _TOO_MANY else None
    return too_many and f"The {kind} picture is made of too many parts: {too_many}."


def _png(data: bytes) -> str | None:
    endless = next(islice(chunks(data), MOST_PNG_CHUNKS, None), None) is not None
    return f"more than {MOST_PNG_CHUNKS:,} chunks" if endless else None


def _jpeg(data: bytes) -> str | None:
    found = outline(data, count_scans=True)
    if found.scans > MOST_JPEG_SCANS:
        return f"more than {MOST_JPEG_SCANS:,} scans"
    if not found.complete:
        return f"more than {MOST_JPEG_SEGMENTS:,} segments"
    frame = found.frame(data)
    if frame is None or not (frame.progressive or found.scans > 1):
        return None
    pixels = frame.width * frame.height
    if found.scans * pixels > MOST_SCANNED_PIXELS:
        return f"{found.scans} scans of {pixels:,} pixels each"
    across, down = (max(sides) for sides in zip(*frame.sampling, strict=True)) if frame.sampling else (1, 1)
    kept = 4 * pixels + sum(2 * pixels * h * v / (across * down) for h, v in frame.sampling)
    return f"{pixels:,} pixels in several scans" if kept > MOST_COEFFICIENT_BYTES else None


def _tiff(data: bytes) -> str | None:
    page = next(directories(data), None)
    if page is None:
        return None
    return f"more than {MOST_TIFF_ENTRIES:,} tags" if page.entries > MOST_TIFF_ENTRIES else too_many_parts(page)


def _bmp(data: bytes) -> str | None:
    """Run-length coded ones are the only pixels that Pillow unpacks in Python."""
    if len(data) < 34 or struct.unpack_from("<I", data, 30)[0] not in (1, 2):
        return None
    width, height = struct.unpack_from("<ii", data, 18)
    if abs(width * height) > MOST_RUN_LENGTH_PIXELS or len(data) > MOST_RUN_LENGTH_BYTES:
        return f"run-length coding of more than {MOST_RUN_LENGTH_PIXELS:,} pixels"
    return None


_TOO_MANY = {"PNG": _png, "JPEG": _jpeg, "TIFF": _tiff, "BMP": _bmp}
