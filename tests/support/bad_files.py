"""How bad files are made: sound encodings, headers that lie, and metadata that are huge, hostile or foreign,
and pictures that open well but show no colorectal H&E tissue.
"""

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


def jpeg_of_scans(times: int, image: Image.Image | None = None) -> bytes:
    """A progressive JPEG in which one scan comes again and again; all pixels are walked through for each."""
    data = encoded("JPEG", (image or tissue()).convert("L"), progressive=True)
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


MEGABYTE = 2**20
_D50 = (63191, 65536, 54081)  # XYZ, as all numbers of a profile in 65,536ths
_SRGB_CURVE = (157286, 62119, 3417, 5072, 2651)
D65 = (0.3127, 0.3290)
SRGB_PRIMARIES = ((0.64, 0.33), (0.30, 0.60), (0.15, 0.06))
P3_PRIMARIES = ((0.680, 0.320), (0.265, 0.690), (0.150, 0.060))


def matrix_profile(columns: tuple[tuple[int, ...], ...], *curve: int) -> bytes:
    """A small ICC profile (version 4): XYZ of red, green and blue, and a curve of one number (gamma) or as sRGB's."""
    tone = b"para" + bytes(4) + struct.pack(f">HH{len(curve)}i", 3 if len(curve) > 1 else 0, 0, *curve)
    points = [b"XYZ " + bytes(4) + struct.pack(">3i", *values) for values in (_D50, *columns)]
    contents = [points[0], tone, tone, tone, *points[1:]]
    table, offset = struct.pack(">I", len(contents)), 132 + 12 * len(contents)
    for name, content in zip((b"wtpt", b"rTRC", b"gTRC", b"bTRC", b"rXYZ", b"gXYZ", b"bXYZ"), contents, strict=True):
        table, offset = table + struct.pack(">4sII", name, offset, len(content)), offset + len(content)
    head = struct.pack(">I4xI4s4s4s12x4s28x3i", offset, 0x04300000, b"mntr", b"RGB ", b"XYZ ", b"acsp", *_D50)
    return head.ljust(128, b"\0") + table + b"".join(contents)


PROPHOTO = matrix_profile(((52278, 18877, 0), (8857, 46653, 0), (2056, 6, 54081)), 117965)
DISPLAY_P3 = matrix_profile(((33758, 15806, -69), (19134, 45366, 2745), (10299, 4364, 51405)), *_SRGB_CURVE)
SRGB = matrix_profile(((28576, 14580, 913), (25238, 46983, 6363), (9378, 3973, 46805)), *_SRGB_CURVE)


def exif_bomb(megabytes: int, orientation: int = 6) -> bytes:
    """Camera data: an orientation, and one tag of millions of numbers."""
    numbers = megabytes * MEGABYTE // 8
    entries = [(274, 3, 1, orientation), (40_000, 5, numbers, 8 + 2 + 12 * 2 + 4)]
    table = b"".join(struct.pack("<HHII", *entry) for entry in entries)
    return b"II*\0\x08\0\0\0" + struct.pack("<H", 2) + table + bytes(4) + bytes(range(1, 9)) * numbers


def exif_in_webp(exif: bytes) -> bytes:
    """An extended WebP, which Pillow can't be asked for without reading the camera data itself."""
    plain = encoded("WEBP", lossless=True)[12:]
    extended = b"VP8X" + struct.pack("<II", 10, 0x08) + (223).to_bytes(3, "little") * 2
    body = b"WEBP" + extended + plain + b"EXIF" + struct.pack("<I", len(exif)) + exif + b"\0" * (len(exif) % 2)
    return b"RIFF" + struct.pack("<I", len(body)) + body


def exif_in_jpeg(exif: bytes, jfif: bool = False) -> bytes:
    """Over as many segments as it takes, as Pillow joins them."""
    picture, most = encoded("JPEG"), 65_000
    parts = [b"Exif\0\0" + exif[i : i + most] for i in range(0, len(exif), most)]
    segments = b"".join(b"\xff\xe1" + struct.pack(">H", len(part) + 2) + part for part in parts)
    start = 20  # behind the JFIF header, which names the resolution that Pillow looks for in camera data
    return picture[:start] + segments + picture[start:] if jfif else picture[:2] + segments + picture[start:]


def tiff_with_bomb(megabytes: int) -> bytes:
    """A TIFF that is its own camera data."""
    numbers = bytes(range(1, 9)) * (megabytes * MEGABYTE // 8)
    return tiff_with_entries(encoded("TIFF"), [(274, 3, 1, 6), (40_000, 5, len(numbers) // 8, numbers)])


def tiff_of_overlapping_tags(count: int, megabytes: int) -> bytes:
    """Every tag of a long list points to the same megabytes."""
    shared = bytes(megabytes * MEGABYTE)
    entries = [(40_000, 7, len(shared), shared)]
    return tiff_with_entries(encoded("TIFF"), entries + [(40_001 + i, 7, len(shared), None) for i in range(count)])


def tiff_of_shared_strips(kilobytes: int) -> bytes:
    """Every row lies in the same kilobytes of nothing, which unpacking has to walk through again and again."""
    nothing = b"\x80" * (kilobytes * 1024) + bytes([63]) + bytes(range(64))
    entries = [(256, 4, 1, 64), (257, 4, 1, 2000), (258, 3, 1, 8), (259, 3, 1, 32_773), (262, 3, 1, 1), (277, 3, 1, 1)]
    entries += [(278, 4, 1, 1)]
    after = 8 + 2 + 12 * (len(entries) + 2) + 4
    offsets = struct.pack("<I", after + 16_000) * 2000
    lengths = struct.pack("<I", len(nothing)) * 2000
    entries = sorted([*entries, (273, 4, 2000, after), (279, 4, 2000, after + 8000)])
    table = struct.pack("<H", len(entries)) + b"".join(struct.pack("<HHII", *entry) for entry in entries)
    return b"II*\0\x08\0\0\0" + table + bytes(4) + offsets + lengths + nothing


def profile_of_endless_elements(count: int = 20_000) -> bytes:
    """Every element of a pipeline points to the same large table, which would be unpacked for each."""
    table = b"clut" + bytes(4) + struct.pack(">HH", 3, 3) + bytes([33] * 3).ljust(16, b"\0") + bytes(4 * 3 * 33**3)
    head = b"mpet" + bytes(4) + struct.pack(">HHI", 3, 3, count)
    content = head + struct.pack(">II", len(head) + 8 * count, len(table)) * count + table
    offset = 128 + 4 + 12
    profile = bytearray(DISPLAY_P3[:128])
    struct.pack_into(">I", profile, 0, offset + len(content))
    return bytes(profile) + struct.pack(">I4sII", 1, b"D2B1", offset, len(content)) + content


def ink_profile() -> bytes:
    """Four inks that all make grey: half of the black one gives half of the lightness (L* 50)."""
    identity = struct.pack(">9i", *(65_536 if i % 4 == 0 else 0 for i in range(9)))
    corners = [(c, m, y, k) for c in (0, 1) for m in (0, 1) for y in (0, 1) for k in (0, 1)]
    lightness = [round(255 * (1 - k) * (1 - 0.3 * c - 0.6 * m - 0.1 * y)) for c, m, y, k in corners]
    table = b"".join(bytes([value, 128, 128]) for value in lightness)
    content = (
        b"mft1" + bytes(4) + bytes([4, 3, 2, 0]) + identity + bytes(range(256)) * 4 + table + bytes(range(256)) * 3
    )
    white = DISPLAY_P3[DISPLAY_P3.index(b"XYZ ", 128) :][:20]
    head = bytearray(DISPLAY_P3[:128])
    struct.pack_into(">I4xI4s4s4s", head, 0, 176 + len(content), 0x02400000, b"prtr", b"CMYK", b"Lab ")
    return bytes(head) + struct.pack(">I4sII4sII", 2, b"wtpt", 156, 20, b"A2B0", 176, len(content)) + white + content


def motion_photo() -> bytes:
    """A JPEG with a film behind it, in which the bytes of a scan's start come by chance."""
    return encoded("JPEG") + b"\0\0\0\x18ftypmp42" + b"\xff\xda\x00\x08film" * 600


SIDE = 224


def flat(colour: str) -> bytes:
    """One colour everywhere."""
    return encoded("PNG", Image.new("RGB", (SIDE, SIDE), colour))


def blurred() -> bytes:
    """Tissue far out of focus."""
    return _png(cv2.GaussianBlur(np.asarray(tissue()), (0, 0), 12))


def noise() -> bytes:
    """No picture at all: every value by chance."""
    return _png(np.random.default_rng(0).integers(0, 256, (SIDE, SIDE, 3)))


def screenshot() -> bytes:
    """Grey windows with black text on white."""
    pixels = np.full((SIDE, SIDE, 3), 255, np.uint8)
    pixels[:24] = (60, 60, 64)
    for row in range(40, SIDE - 10, 14):
        cv2.putText(pixels, "file edit view help", (12, row), cv2.FONT_HERSHEY_SIMPLEX, 0.4, (20, 20, 20), 1)
    return _png(pixels)


def fluorescence() -> bytes:
    """Green and blue spots on black."""
    rng, pixels = np.random.default_rng(1), np.zeros((SIDE, SIDE, 3), np.uint8)
    for x, y in rng.integers(0, SIDE, (60, 2)).tolist():
        cv2.circle(pixels, (x, y), 7, (20, 90, 230), -1)
        cv2.circle(pixels, (x + 4, y + 3), 9, (30, 220, 60), 2)
    return _png(cv2.GaussianBlur(pixels, (0, 0), 1.2))


def brown_stain() -> bytes:
    """The brown of an antibody stain with blue nuclei: the tile's colours turned round."""
    hsv = cv2.cvtColor(np.asarray(tissue()), cv2.COLOR_RGB2HSV)
    hsv[:, :, 0] = np.where(hsv[:, :, 0] > 140, 15, 105)
    return _png(cv2.cvtColor(hsv, cv2.COLOR_HSV2RGB))


def landscape() -> bytes:
    """Sky, hills and a meadow, as a holiday picture has them."""
    rng = np.random.default_rng(2)
    pixels = np.zeros((SIDE, SIDE, 3), np.float64)
    pixels[:110] = np.linspace((90, 150, 235), (190, 220, 250), 110)[:, None]
    pixels[110:] = np.linspace((70, 130, 50), (40, 90, 30), SIDE - 110)[:, None]
    pixels[110:] += rng.normal(0, 18, (SIDE - 110, SIDE, 1))
    return _png(np.clip(pixels, 0, 255))


def _png(pixels: np.ndarray) -> bytes:
    return encoded("PNG", Image.fromarray(pixels.astype(np.uint8)))
