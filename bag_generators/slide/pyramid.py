"""A slide as a file: a pyramidal TIFF of JPEG tiles, which OpenSlide and QuPath read.

By hand, because the package for it packs JPEGs only with a second, large one beside it; the file needs few tags.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator, Sequence

import numpy as np
from PIL import Image

_TILE = 256
_SHORT, _LONG, _RATIONAL = 3, 4, 5
_SMALLER_COPY, _JPEG, _YCBCR, _CENTIMETRE = 1, 7, 6, 3


def pyramid(levels: Sequence[np.ndarray], microns_per_pixel: float, quality: int = 85) -> bytes:
    """The bytes of a TIFF with all levels, (height, width, 3) uint8 each: the largest first, each half of the last.

    `microns_per_pixel` is that of the largest.
    """
    content = bytearray(b"II*\0" + bytes(4))
    pointer = 4  # where the place of the next directory is to be written
    for number, pixels in enumerate(levels):
        offsets, lengths = [], []
        for tile in _jpegs(pixels, quality):
            offsets.append(len(content))
            lengths.append(len(tile))
            content += tile + bytes(len(tile) % 2)
        height, width = pixels.shape[:2]
        per_centimetre = round(10_000 / (microns_per_pixel * 2**number) * 1000)
        tags: dict[int, tuple[int, Sequence[int]]] = {
            254: (_LONG, [_SMALLER_COPY if number else 0]),
            256: (_LONG, [width]),
            257: (_LONG, [height]),
            258: (_SHORT, [8, 8, 8]),
            259: (_SHORT, [_JPEG]),
            262: (_SHORT, [_YCBCR]),
            277: (_SHORT, [3]),
            282: (_RATIONAL, [per_centimetre, 1000]),
            283: (_RATIONAL, [per_centimetre, 1000]),
            284: (_SHORT, [1]),
            296: (_SHORT, [_CENTIMETRE]),
            322: (_SHORT, [_TILE]),
            323: (_SHORT, [_TILE]),
            324: (_LONG, offsets),
            325: (_LONG, lengths),
            530: (_SHORT, [2, 2]),  # colour at half the resolution
        }
        struct.pack_into("<I", content, pointer, len(content))
        pointer = _append_directory(content, tags)
    return bytes(content)


def _append_directory(content: bytearray, tags: dict[int, tuple[int, Sequence[int]]]) -> int:
    """Write a directory behind the content; where it points to the next one."""
    start = len(content)
    end = start + 2 + 12 * len(tags) + 4
    entries, values = struct.pack("<H", len(tags)), b""
    for tag, (kind, numbers) in tags.items():
        packed = struct.pack(f"<{len(numbers)}{'H' if kind == _SHORT else 'I'}", *numbers)
        count = len(numbers) // 2 if kind == _RATIONAL else len(numbers)
        entries += struct.pack("<HHI", tag, kind, count)
        if len(packed) <= 4:
            entries += packed.ljust(4, b"\0")
        else:
            entries += struct.pack("<I", end + len(values))
            values += packed
    content += entries + bytes(4) + values
    return end - 4


def _jpegs(pixels: np.ndarray, quality: int) -> Iterator[bytes]:
    """The tiles row by row; those at the edge repeat their last pixels."""
    height, width = pixels.shape[:2]
    padded = np.pad(pixels, ((0, -height % _TILE), (0, -width % _TILE), (0, 0)), mode="edge")
    for top in range(0, height, _TILE):
        for left in range(0, width, _TILE):
            data = io.BytesIO()
            tile = Image.fromarray(padded[top : top + _TILE, left : left + _TILE])
            tile.save(data, "JPEG", quality=quality, subsampling="4:2:0")
            yield data.getvalue()
