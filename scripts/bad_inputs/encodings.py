"""Building blocks of bad files: sound encodings and headers that lie."""

from __future__ import annotations

import io
import struct
import zlib
from functools import cache
from typing import Any

import cv2
import numpy as np
import tifffile
from PIL import Image

from bag_generators.tissue import phantom


@cache
def tissue() -> Image.Image:
    """A drawn tile of 224 × 224 px, the sound picture most bad files are made of."""
    return Image.fromarray(phantom.draw("TUM", seed=5).pixels)


def encoded(format_: str, image: Image.Image | None = None, **options: Any) -> bytes:
    """A picture file as Pillow writes it."""
    file = io.BytesIO()
    (image or tissue()).save(file, format_, **options)
    return file.getvalue()


def tiff(values: np.ndarray, **options: Any) -> bytes:
    """A TIFF of any type of number."""
    file = io.BytesIO()
    tifffile.imwrite(file, values, **options)
    return file.getvalue()


def wide_png(values: np.ndarray) -> bytes:
    """A PNG of 16 bits a colour, (H, W, 3) RGB."""
    return bytes(cv2.imencode(".png", values[:, :, ::-1])[1])


def chunk(name: bytes, data: bytes) -> bytes:
    """A chunk of a PNG with its right sum."""
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def with_chunk(png: bytes, name: bytes, data: bytes, times: int = 1) -> bytes:
    """A PNG with a chunk put right after its header."""
    return png[:33] + chunk(name, data) * times + png[33:]


def png_claiming(width: int, height: int, pixels: bytes = b"", colour_type: int = 0) -> bytes:
    """A PNG whose header claims a size that its data need not have."""
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, colour_type, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", zlib.compress(pixels, 9)) + chunk(b"IEND", b"")


def png_bomb(side: int) -> bytes:
    """A grey PNG of side × side black pixels in some kilobytes: all of it is really there."""
    packer, packed = zlib.compressobj(9), b""
    row = b"\0" * (side + 1)
    for _ in range(side):
        packed += packer.compress(row)
    packed += packer.flush()
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", packed) + chunk(b"IEND", b"")


def jpeg_claiming(width: int, height: int) -> bytes:
    """A JPEG whose header claims another size."""
    data = bytearray(encoded("JPEG"))
    start = data.index(b"\xff\xc0") + 5
    data[start : start + 4] = struct.pack(">HH", height, width)
    return bytes(data)


def jpeg_with(segment: bytes, times: int) -> bytes:
    """A JPEG with a segment repeated after its start."""
    data = encoded("JPEG")
    return data[:2] + segment * times + data[2:]


def jpeg_of_scans(times: int) -> bytes:
    """A progressive JPEG in which one scan comes again and again."""
    data = encoded("JPEG", tissue().convert("L"), progressive=True)
    starts = [position for position in range(len(data)) if data[position : position + 2] == b"\xff\xda"]
    return data[: starts[1]] + data[starts[1] : starts[2]] * times + data[starts[2] :]


def bmp_claiming(width: int, height: int, compression: int = 0) -> bytes:
    """A BMP whose header claims another size, or to be run-length coded (1)."""
    data = bytearray(encoded("BMP", tissue().quantize(16) if compression else None))
    struct.pack_into("<ii", data, 18, width, height)
    struct.pack_into("<I", data, 30, compression)
    return bytes(data)


def webp_claiming(kind: bytes) -> bytes:
    """A WebP whose header claims the largest canvas there is: extended, lossless or lossy."""
    if kind == b"VP8X":
        canvas = b"\xff" * 6
        return b"RIFF" + struct.pack("<I", 22) + b"WEBPVP8X" + struct.pack("<I", 10) + b"\0\0\0\0" + canvas
    data = bytearray(encoded("WEBP", lossless=kind == b"VP8L"))
    if kind == b"VP8L":
        struct.pack_into("<I", data, 21, 0x3FFF | 0x3FFF << 14)
    else:
        struct.pack_into("<HH", data, 26, 0x3FFF, 0x3FFF)
    return bytes(data)


def tiff_with(tags: dict[int, int], data: bytes | None = None) -> bytes:
    """A little-endian TIFF in which the values of whole-number tags are replaced."""
    changed = bytearray(data or encoded("TIFF"))
    start = struct.unpack_from("<I", changed, 4)[0]
    for i in range(struct.unpack_from("<H", changed, start)[0]):
        tag, kind = struct.unpack_from("<HH", changed, start + 2 + 12 * i)
        if tag in tags:
            struct.pack_into("<H" if kind == 3 else "<I", changed, start + 10 + 12 * i, tags[tag])
    return bytes(changed)


def tiff_of_strips(count: int) -> bytes:
    """A TIFF that says its few pixels lie in `count` strips."""
    entries = [(256, 4, 1, 64), (257, 4, 1, 64), (258, 3, 1, 8), (259, 3, 1, 1), (262, 3, 1, 1), (277, 3, 1, 1)]
    after = 8 + 2 + 12 * (len(entries) + 3) + 4
    entries += [(273, 4, count, after), (278, 4, 1, 1), (279, 4, 1, 64)]
    directory = struct.pack("<H", len(entries)) + b"".join(struct.pack("<HHII", *entry) for entry in entries)
    return b"II*\0\x08\0\0\0" + directory + bytes(4) + struct.pack("<I", 8) * count + bytes(5000)


def tiff_of_tags(count: int) -> bytes:
    """A TIFF with as many tags as one likes."""
    entries = b"".join(struct.pack("<HHII", 1000 + i, 4, 1, 5) for i in range(count))
    return b"II*\0\x08\0\0\0" + struct.pack("<H", count) + entries + bytes(4)


def tiff_with_entries(data: bytes, more: list[tuple[int, int, int, Any]]) -> bytes:
    """A little-endian TIFF with further tags: (tag, type, count, value), where bytes are put behind the file.

    Where the value is None it is the one before.
    """
    start = struct.unpack_from("<I", data, 4)[0]
    count = struct.unpack_from("<H", data, start)[0]
    entries = [struct.unpack_from("<HHII", data, start + 2 + 12 * i) for i in range(count)]
    position, behind = len(data), []
    for tag, kind, length, value in more:
        if isinstance(value, bytes):
            behind.append(value)
            position, value = position + len(value), position
        entries.append((tag, kind, length, entries[-1][3] if value is None else value))
    table = struct.pack("<H", len(entries)) + b"".join(struct.pack("<HHII", *entry) for entry in sorted(entries))
    return data[:4] + struct.pack("<I", position) + b"".join([data[8:], *behind, table, bytes(4)])
