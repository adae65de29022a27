"""Width and height as the header of a picture states them, before any decoder is asked."""

from __future__ import annotations

import struct

from bag_generators.reading.detection import detect_kind
from bag_generators.reading.jpeg_segments import outline
from bag_generators.reading.slow_files import MOST_TIFF_ENTRIES
from bag_generators.reading.tiff_layout import BITS, HEIGHT, SAMPLES, WIDTH
from bag_generators.reading.tiff_pages import directories

Size = tuple[int, int]

_PNG_SAMPLES = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}  # by colour type


def stated_size(data: bytes) -> Size | None:
    """Of a picture of any kind that can be read; None where the header does not say."""
    kind = detect_kind(data)
    if kind == "JPEG":
        frame = outline(data).frame(data)
        return (frame.width, frame.height) if frame else None
    if kind == "TIFF":
        page = next(directories(data), None)
        if page is None or page.entries > MOST_TIFF_ENTRIES or not page.tags.keys() >= {WIDTH, HEIGHT}:
            return None
        return page.number(WIDTH, 0), page.number(HEIGHT, 0)
    if kind == "BMP" and len(data) >= 26:
        old = struct.unpack_from("<I", data, 14)[0] == 12
        width, height = struct.unpack_from("<HH" if old else "<ii", data, 18)
        return abs(width), abs(height)
    return early_size(kind or "", data)


def unpacked_bytes(kind: str, data: bytes) -> int | None:
    """How long the values of a PNG or TIFF are before they become 8 bits; None for others and for odd headers."""
    if kind == "PNG" and (size := early_size(kind, data)) is not None:
        return size[0] * size[1] * _PNG_SAMPLES.get(data[25], 0) * data[24] // 8
    page = next(directories(data), None) if kind == "TIFF" else None
    if page is None or page.entries > MOST_TIFF_ENTRIES:
        return None
    return page.number(WIDTH, 0) * page.number(HEIGHT, 0) * page.number(SAMPLES, 1) * page.number(BITS, 1) // 8


def early_size(kind: str, data: bytes) -> Size | None:
    """For the two formats where asking Pillow is too late.

    Its WebP reader allocates the whole canvas on opening; its PNG reader calls a picture of no pixels no PNG.
    """
    head = data[16:30]
    if len(head) < 14:
        return None
    if kind == "PNG":
        width, height = struct.unpack_from(">II", head)
        return width, height
    if kind == "WebP" and data[12:16] == b"VP8X":
        return int.from_bytes(head[8:11], "little") + 1, int.from_bytes(head[11:14], "little") + 1
    if kind == "WebP" and data[12:16] == b"VP8L":
        bits = int.from_bytes(head[5:9], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == "WebP" and data[12:16] == b"VP8 ":
        width, height = struct.unpack_from("<HH", head, 10)
        return width & 0x3FFF, height & 0x3FFF
    return None
