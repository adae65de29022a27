"""Sound pixels beside metadata that are huge, hostile, foreign or simply not written for us."""

from __future__ import annotations

import struct
import zlib
from functools import partial

import numpy as np
from PIL import Image, ImageCms

from scripts.bad_inputs.encodings import chunk, encoded, tiff, tiff_with_entries, tissue, with_chunk

_TURNED = "turned upright"
_CONVERTED = "converted to sRGB from the colour profile"
_NO_PROFILE = "describes its colours without a colour profile"
_UNUSED = "profile in the file can't be used"
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


def scans_of_a_large_picture(scans: int = 60) -> bytes:
    """A small progressive JPEG that has to be walked through as often as it has scans."""
    data = encoded("JPEG", Image.new("L", (7000, 5000), 200), progressive=True)
    starts = [offset for offset in range(len(data) - 1) if data[offset : offset + 2] == b"\xff\xda"]
    return data[: starts[1]] + data[starts[1] : starts[2]] * scans + data[starts[2] :]


def planes_of_16_bits() -> bytes:
    """What was once decoded into other colours without a word."""
    values = np.asarray(tissue()).transpose(2, 0, 1).astype(np.uint16) * 257
    return tiff(values, photometric="rgb", planarconfig="separate")


def below_zero() -> bytes:
    """Eight bits with a sign, which were once taken for bright pixels."""
    return tiff((np.asarray(tissue().convert("L")).astype(int) - 100).clip(-100, 127).astype(np.int8))


def _srgb() -> bytes:
    return ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()


def _points(*values: float) -> bytes:
    return struct.pack(f">{len(values)}I", *(round(100_000 * value) for value in values))


def _saying(name: bytes, content: bytes) -> bytes:
    return with_chunk(encoded("PNG"), name, content)


_SRGB_POINTS = _points(*D65, *(value for point in SRGB_PRIMARIES for value in point))
_P3_POINTS = _points(*D65, *(value for point in P3_PRIMARIES for value in point))

HOSTILE = {
    "strips-that-share-their-bytes.tif": (lambda: tiff_of_shared_strips(900), "made of too many parts"),
    "scans-of-a-large-picture.jpg": (scans_of_a_large_picture, "made of too many parts"),
}
REFUSED = {
    "planes-of-16-bits.tif": (planes_of_16_bits, "separate planes of 16 bits. Export it as an 8-bit PNG"),
    "below-zero.tif": (below_zero, "fits no known brightness scale"),
}
NOTED = {
    "camera-data-of-4-megabytes.png": (lambda: _saying(b"eXIf", exif_bomb(4)), _TURNED),
    "camera-data-behind-the-pixels.png": (
        lambda: encoded("PNG")[:-12] + chunk(b"eXIf", exif_bomb(4)) + encoded("PNG")[-12:],
        _TURNED,
    ),
    "camera-data-of-4-megabytes.webp": (lambda: exif_in_webp(exif_bomb(4)), _TURNED),
    "camera-data-of-4-megabytes.jpg": (lambda: exif_in_jpeg(exif_bomb(4)), _TURNED),
    "camera-data-of-4-megabytes-and-resolution.jpg": (lambda: exif_in_jpeg(exif_bomb(4), jfif=True), _TURNED),
    "camera-data-of-4-megabytes.tif": (lambda: tiff_with_bomb(4), _TURNED),
    "display-p3.png": (lambda: encoded("PNG", icc_profile=DISPLAY_P3), _CONVERTED),
    "display-p3.jpg": (lambda: encoded("JPEG", icc_profile=DISPLAY_P3), _CONVERTED),
    "display-p3.webp": (lambda: encoded("WEBP", icc_profile=DISPLAY_P3), _CONVERTED),
    "prophoto.tif": (lambda: encoded("TIFF", icc_profile=PROPHOTO), _CONVERTED),
    "inks-with-a-profile.tif": (
        lambda: encoded("TIFF", tissue().convert("CMYK"), icc_profile=ink_profile()),
        _CONVERTED,
    ),
    "linear-light.png": (lambda: _saying(b"gAMA", _points(1.0)), _NO_PROFILE),
    "other-primaries.png": (lambda: _saying(b"cHRM", _P3_POINTS), _NO_PROFILE),
    "coded-display-p3.png": (lambda: _saying(b"cICP", bytes([12, 13, 0, 1])), _NO_PROFILE),
    "coded-high-dynamic-range.png": (lambda: _saying(b"cICP", bytes([9, 16, 0, 1])), _NO_PROFILE),
    "gamma-of-zero.png": (lambda: _saying(b"gAMA", bytes(4)), _NO_PROFILE),
    "primaries-on-one-point.png": (lambda: _saying(b"cHRM", _points(*[0.3] * 8)), _NO_PROFILE),
    "primaries-of-nothing.png": (lambda: _saying(b"cHRM", bytes(32)), _NO_PROFILE),
    "profile-of-5-megabytes.jpg": (
        lambda: encoded("JPEG", icc_profile=DISPLAY_P3.ljust(5 * MEGABYTE, b"\0")),
        _UNUSED,
    ),
    "profile-without-end.tif": (lambda: encoded("TIFF", icc_profile=profile_of_endless_elements()), _UNUSED),
    "profile-without-end.webp": (lambda: encoded("WEBP", icc_profile=profile_of_endless_elements()), _UNUSED),
    "profile-cut-off.png": (lambda: encoded("PNG", icc_profile=DISPLAY_P3[:200]), _UNUSED),
    "profile-of-another-space.png": (
        lambda: encoded("PNG", icc_profile=DISPLAY_P3.replace(b"RGB XYZ ", b"CMYKXYZ ")),
        _UNUSED,
    ),
    "profile-that-does-not-unpack.png": (lambda: _saying(b"iCCP", b"name\0\0" + zlib.compress(PROPHOTO)[:9]), _UNUSED),
}
TAKEN = {
    "film-behind-a-picture.jpg": (motion_photo, ""),
    "tags-that-share-their-bytes.tif": (lambda: tiff_of_overlapping_tags(2000, 4), ""),
    "camera-data-that-say-nothing.png": (lambda: _saying(b"eXIf", exif_bomb(4, orientation=1)), ""),
    "srgb-profile.png": (lambda: encoded("PNG", icc_profile=_srgb()), ""),
    "srgb-profile.tif": (lambda: encoded("TIFF", icc_profile=_srgb()), ""),
    "srgb-by-name.png": (lambda: _saying(b"sRGB", b"\0"), ""),
    "srgb-by-numbers.png": (
        lambda: with_chunk(_saying(b"cHRM", _SRGB_POINTS), b"gAMA", _points(0.45455)),
        "",
    ),
    "coded-srgb.png": (partial(_saying, b"cICP", bytes([1, 13, 0, 1])), ""),
}
