"""Every bad input with what must come of it: one row each, for the tests, and as files to try by hand.

    python -m tests.support.bad_inputs FOLDER

Some 190 files, 180 MB in all; two of them are one byte larger than an upload may be. Beside them `expected.tsv` says
what must come of each. Names that strangers think of are in `NASTY_NAMES`; not all fit on a disk.
"""

from __future__ import annotations

import struct
import sys
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import partial
from pathlib import Path

import numpy as np
from PIL import Image, ImageCms, PngImagePlugin

from bag_generators.base.formats import MAX_BYTES
from tests.support.bad_files import (
    D65,
    DISPLAY_P3,
    MEGABYTE,
    P3_PRIMARIES,
    PROPHOTO,
    SRGB_PRIMARIES,
    blurred,
    bmp_claiming,
    brown_stain,
    chunk,
    encoded,
    exif_bomb,
    exif_in_jpeg,
    exif_in_webp,
    flat,
    fluorescence,
    ink_profile,
    jpeg_claiming,
    jpeg_of_scans,
    jpeg_with,
    landscape,
    motion_photo,
    noise,
    png_claiming,
    profile_of_endless_elements,
    screenshot,
    tiff,
    tiff_of_overlapping_tags,
    tiff_of_shared_strips,
    tiff_of_strips,
    tiff_of_tags,
    tiff_with,
    tiff_with_bomb,
    tissue,
    webp_claiming,
    wide_png,
    with_chunk,
)


class Outcome(Enum):
    """What becomes of an input."""

    REFUSED = "refused by the loader"
    UNFIT = "opens, but no generator takes it"
    NOTED = "opens with a note"
    DOUBTED = "opens; the result is marked unreliable"
    TAKEN = "opens without a word"


@dataclass(frozen=True)
class BadInput:
    """One file: its name, how it is made, what becomes of it and what the person reads (a part of the sentence)."""

    name: str
    make: Callable[[], bytes]
    outcome: Outcome
    says: str = ""


def _rows(outcome: Outcome, group: dict[str, tuple[Callable[[], bytes], str]]) -> list[BadInput]:
    return [BadInput(name, make, outcome, says) for name, (make, says) in group.items()]


_TURNED = "turned upright"
_CONVERTED = "converted to sRGB from the colour profile"
_NO_PROFILE = "describes its colours without a colour profile"
_UNUSED = "profile in the file can't be used"
_ON_WHITE, _REDUCED = "Transparent parts were laid on white", "reduced to 8 bits"
_FIRST_FRAME = "animated (2 frames); the first one was used"


_UNKNOWN = "its kind is unknown"
# What a pickle that runs a program on opening looks like; it is only written here.
_PICKLE = b"\x80\x04\x95\x1d\0\0\0\0\0\0\0\x8c\x05posix\x8c\x06system\x93\x8c\x04true\x85R."

FOREIGN = {
    "empty.png": (lambda: b"", "The file is empty"),
    "zero-byte.png": (lambda: b"\0", _UNKNOWN),
    "zero-bytes.png": (lambda: bytes(1000), _UNKNOWN),
    "every-byte.png": (lambda: bytes(range(256)), _UNKNOWN),
    "text.png": (lambda: b"Patient came in with a cough.\n", "a text file"),
    "text-beginning-with-bm.bmp": (lambda: b"BMW drivers have colons too", "a text file"),
    "table.png": (lambda: b"a;b;c\n1;2;3\n", "a text file"),
    "web-page.png": (lambda: b"<!DOCTYPE html><html><script>alert(1)</script></html>", "a web page"),
    "web-page-after-a-comment.png": (lambda: b"\n<!-- saved --><html></html>", "a web page"),
    "drawing.png": (lambda: b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>", "an SVG drawing"),
    "drawing-with-declaration.png": (lambda: b"<?xml version='1.0'?><svg onload='alert(1)'/>", "an SVG drawing"),
    "entities.png": (lambda: b"<?xml version='1.0'?><!DOCTYPE x [<!ENTITY a 'a'>]><x>&a;</x>", "an XML file"),
    "document.png": (lambda: b"%PDF-1.7\n%\xe2\xe3\xcf\xd3", "a PDF document"),
    "office.png": (lambda: b"PK\x03\x04\x14" + bytes(60), "a ZIP archive or an Office document"),
    "archive.png": (lambda: b"\x1f\x8b\x08\0\0\0\0\0", "a gzip archive"),
    "archive-7z.png": (lambda: b"7z\xbc\xaf\x27\x1c\0\4", "a 7z archive"),
    "archive-rar.png": (lambda: b"Rar!\x1a\x07\0", "a RAR archive"),
    "pickle.png": (lambda: _PICKLE, "a pickle"),
    "array.png": (lambda: b"\x93NUMPY\1\0v\0" + bytes(200), "a NumPy array file"),
    "hdf5.png": (lambda: b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
    "program.png": (lambda: b"\x7fELF\2\1\1\0", "a program"),
    "program.exe.png": (lambda: b"MZ\x90\0\3\0", "a program"),
    "scan.dcm.png": (lambda: bytes(128) + b"DICM" + bytes(40), "a DICOM file"),
    "postscript.png": (lambda: b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", "a PostScript (EPS) drawing"),
    "postscript-binary.png": (lambda: b"\xc5\xd0\xd3\xc6" + bytes(30), "a PostScript (EPS) drawing"),
    "postscript-of-a-picture.png": (lambda: encoded("EPS"), "a PostScript (EPS) drawing"),
    "gif.png": (lambda: encoded("GIF"), "a GIF picture"),
    "animated.gif.png": (lambda: encoded("GIF", save_all=True, append_images=[tissue().rotate(90)]), "a GIF picture"),
    "jpeg2000.png": (lambda: encoded("JPEG2000"), "a JPEG 2000 picture"),
    "avif.png": (lambda: encoded("AVIF"), "a HEIC, AVIF or video file"),
    "video.png": (lambda: b"\0\0\0\x18ftypmp42", "a HEIC, AVIF or video file"),
    "photoshop.png": (lambda: b"8BPS\0\1", "a Photoshop file"),
    "icon.png": (lambda: encoded("ICO"), "an icon file"),
    "sound.png": (lambda: b"RIFF\x24\0\0\0WAVEfmt ", _UNKNOWN),
    "slide.czi.png": (lambda: b"ZISRAWFILE".ljust(600, b"\0"), "QuPath: File → Export images"),
}

_DAMAGED = "picture is incomplete or damaged. Export it again"
_ENDINGS = {"PNG": "png", "JPEG": "jpg", "TIFF": "tif", "BMP": "bmp", "WEBP": "webp"}


def _cut(format_: str, share: float) -> bytes:
    data = encoded(format_)
    return data[: int(len(data) * share)]


def _flipped() -> bytes:
    data = bytearray(encoded("PNG"))
    data[len(data) // 2] ^= 0x55
    return bytes(data)


DAMAGED = {
    **{
        f"cut-at-{share:.0%}.{ending}": (partial(_cut, format_, share), _DAMAGED)
        for format_, ending in _ENDINGS.items()
        for share in (0.02, 0.5, 0.98)
    },
    "cut-in-the-signature.png": (lambda: encoded("PNG")[:8], _DAMAGED),
    "cut-in-the-header.png": (lambda: encoded("PNG")[:20], _DAMAGED),
    "without-its-end.png": (lambda: encoded("PNG")[:-12], _DAMAGED),
    "one-flipped-byte.png": (_flipped, _DAMAGED),
    "signature-and-noise.png": (lambda: encoded("PNG")[:8] + bytes(range(1, 250)), _DAMAGED),
    "signature-and-nothing.jpg": (lambda: b"\xff\xd8\xff\xe0" + bytes(200), _DAMAGED),
    "no-pixels-at-all.png": (lambda: png_claiming(64, 64), _DAMAGED),
    "unknown-colour-type.png": (lambda: png_claiming(64, 64, bytes(64 * 65), colour_type=5), _DAMAGED),
    "header-of-a-tiff.tif": (lambda: b"II*\0\x08\0\0\0", _DAMAGED),
    "chain-in-a-circle.tif": (lambda: b"II*\0\x08\0\0\0\0\0\x08\0\0\0", _DAMAGED),
}

_LARGEST = "at most 40 million in all and 20,000 per side"
_PARTS = "made of too many parts"
_METADATA = "damaged or unsafe metadata"
_APERIO = "Aperio Image Library v11.2.1\n46000x32914 [0,100 46000x32893] (256x256) JPEG/RGB Q=70"


def _text_of_20_megabytes(international: bool) -> bytes:
    info = PngImagePlugin.PngInfo()
    (info.add_itxt if international else info.add_text)("Comment", "a" * 20_000_000, zip=True)
    return encoded("PNG", pnginfo=info)


def _slide() -> bytes:
    blank = np.full((6600, 6600, 3), 240, np.uint8)
    return tiff(blank, tile=(256, 256), photometric="rgb", compression="zlib", description=_APERIO, metadata=None)


HOSTILE = {
    "bomb-9000.png": (lambda: png_claiming(9000, 9000, bytes(9001 * 9000)), f"9,000 × 9,000 pixels; {_LARGEST}"),
    "bomb-100000.png": (lambda: png_claiming(100_000, 100_000), f"100,000 × 100,000 pixels; {_LARGEST}"),
    "largest-claim.png": (lambda: png_claiming(2**31 - 1, 2**31 - 1), "2,147,483,647 × 2,147,483,647"),
    "largest-claim.jpg": (lambda: jpeg_claiming(65_000, 65_000), f"65,000 × 65,000 pixels; {_LARGEST}"),
    "largest-claim.bmp": (lambda: bmp_claiming(2**31 - 1, 2**31 - 1), "2,147,483,647 × 2,147,483,647"),
    "largest-claim-extended.webp": (lambda: webp_claiming(b"VP8X"), f"far too many pixels; {_LARGEST}"),
    "largest-claim-lossless.webp": (lambda: webp_claiming(b"VP8L"), f"far too many pixels; {_LARGEST}"),
    "largest-claim-lossy.webp": (lambda: webp_claiming(b"VP8 "), f"far too many pixels; {_LARGEST}"),
    "largest-claim.tif": (lambda: tiff_with({256: 60_000, 257: 60_000}), f"60,000 × 60,000 pixels; {_LARGEST}"),
    "huge-tiles.tif": (
        lambda: tiff_with({322: 16_000, 323: 16_000}, tiff(np.zeros((64, 64, 3), np.uint8), tile=(64, 64))),
        f"16,000 × 16,000 pixels; {_LARGEST}",
    ),
    "packed-bomb.tif": (lambda: tiff(np.zeros((7000, 7000), np.uint8), compression="zlib"), "7,000 × 7,000 pixels"),
    "whole-slide.svs.tif": (_slide, "QuPath: File → Export images"),
    "thin-beyond-the-limit.png": (lambda: png_claiming(1, 20_001), "1 × 20,001 pixels"),
    "no-pixels.png": (lambda: png_claiming(0, 0), _DAMAGED),
    "no-height.png": (lambda: png_claiming(5, 0), _DAMAGED),
    "one-byte-too-many.png": (lambda: encoded("PNG").ljust(MAX_BYTES + 1, b"\0"), "more than the 50 MB allowed"),
    "slide-too-large.tif": (lambda: encoded("TIFF").ljust(MAX_BYTES + 1, b"\0"), "it may be a whole-slide image"),
    "endless-chunks.png": (lambda: with_chunk(encoded("PNG"), b"teSt", b"", 50_001), _PARTS),
    "endless-segments.jpg": (lambda: jpeg_with(b"\xff\xe5\0\2", 20_001), _PARTS),
    "endless-filling.jpg": (lambda: jpeg_with(b"\xff", 30_000), _PARTS),
    "endless-scans.jpg": (lambda: jpeg_of_scans(501), _PARTS),
    "endless-strips.tif": (lambda: tiff_of_strips(100_001), _PARTS),
    "endless-tags.tif": (lambda: tiff_of_tags(4_097), _DAMAGED),
    "slow-run-lengths.bmp": (lambda: bmp_claiming(20_000, 2_000, compression=1), _DAMAGED),
    "text-of-20-megabytes.png": (lambda: _text_of_20_megabytes(international=False), _METADATA),
    "international-text-of-20-megabytes.png": (lambda: _text_of_20_megabytes(international=True), _METADATA),
    "profile-of-20-megabytes.png": (
        lambda: with_chunk(encoded("PNG"), b"iCCP", b"name\0\0" + zlib.compress(bytes(20_000_000))),
        _METADATA,
    ),
    "strips-that-share-their-bytes.tif": (lambda: tiff_of_shared_strips(900), _PARTS),
    "scans-of-a-large-picture.jpg": (
        lambda: jpeg_of_scans(60, Image.new("L", (7000, 5000), 200)),
        "made of too many parts",
    ),
    "profile-of-garbage.png": (lambda: with_chunk(encoded("PNG"), b"iCCP", b"name\0\7garbage"), _METADATA),
}


_NO_COLOUR = "has no colour"
_UNREADABLE = "stores its pixels in a way we can't read"
_NO_SCALE = "fits no known brightness scale"


def _grey() -> np.ndarray:
    return np.asarray(tissue().convert("L"))


def _wide(values: np.ndarray | None = None) -> np.ndarray:
    return np.asarray(tissue() if values is None else values).astype(np.uint16) * 257


def _float(value: float, dtype: type = np.float32) -> np.ndarray:
    values = (_grey() / 255).astype(dtype)
    values[3, 4] = value
    return values


def _turned(format_: str, orientation: int) -> bytes:
    exif = Image.Exif()
    exif[0x0112] = orientation
    return encoded(format_, exif=exif)


def _transparent(alpha: int) -> Image.Image:
    image = tissue().convert("RGBA")
    image.paste(Image.new("RGBA", (112, 224), (200, 30, 90, alpha)), (0, 0))
    return image


def _pages(count: int) -> bytes:
    others = [Image.new("L", (64, 64))] * (count - 1)
    return encoded("TIFF", save_all=True, append_images=others)


def _long_text() -> bytes:
    info = PngImagePlugin.PngInfo()
    info.add_text("Comment", "a" * 20_000_000)
    return encoded("PNG", pnginfo=info)


def _blank(width: int, height: int) -> bytes:
    return encoded("PNG", Image.new("RGB", (width, height), "pink"))


def _srgb() -> bytes:
    return ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()


def _points(*values: float) -> bytes:
    return struct.pack(f">{len(values)}I", *(round(100_000 * value) for value in values))


def _saying(name: bytes, content: bytes) -> bytes:
    return with_chunk(encoded("PNG"), name, content)


def _planes_of_16_bits() -> bytes:
    """What was once decoded into other colours without a word."""
    return tiff(_wide().transpose(2, 0, 1), photometric="rgb", planarconfig="separate")


def _below_zero() -> bytes:
    """Eight bits with a sign, which were once taken for bright pixels."""
    return tiff((np.asarray(tissue().convert("L")).astype(int) - 100).clip(-100, 127).astype(np.int8))


_SRGB_POINTS = _points(*D65, *(value for point in SRGB_PRIMARIES for value in point))
_P3_POINTS = _points(*D65, *(value for point in P3_PRIMARIES for value in point))


UNUSABLE = {
    "fully-transparent.png": (
        lambda: encoded("PNG", Image.new("RGBA", (224, 224), (200, 30, 90, 0))),
        "fully transparent",
    ),
    "not-a-number.tif": (lambda: encoded("TIFF", Image.fromarray(_float(np.nan))), "values that are not numbers"),
    "infinite.tif": (lambda: encoded("TIFF", Image.fromarray(_float(np.inf))), "values that are not numbers"),
    "negative.tif": (lambda: encoded("TIFF", Image.fromarray(_float(-0.5))), _NO_SCALE),
    "a-million.tif": (lambda: encoded("TIFF", Image.fromarray(_float(1e6))), _NO_SCALE),
    "beyond-16-bits.tif": (lambda: encoded("TIFF", Image.fromarray(_grey().astype(np.int32) * 300)), _NO_SCALE),
    "colours-in-the-lower-bits.png": (
        lambda: wide_png(np.asarray(tissue()).astype(np.uint16) * 16),
        "only black would be left",
    ),
    "float-colours.tif": (lambda: tiff(np.asarray(tissue()).astype(np.float32), photometric="rgb"), _UNREADABLE),
    "double-precision.tif": (lambda: tiff(_float(0.5, np.float64)), _UNREADABLE),
    "half-precision.tif": (lambda: tiff(_float(0.5, np.float16)), _UNREADABLE),
    "32-bit-colours.tif": (lambda: tiff(np.asarray(tissue()).astype(np.uint32), photometric="rgb"), _UNREADABLE),
    "unknown-compression.tif": (lambda: tiff_with({259: 33_003}), _UNREADABLE),
    "planes-of-16-bits.tif": (_planes_of_16_bits, "separate planes of 16 bits. Export it as an 8-bit PNG"),
    "below-zero.tif": (_below_zero, "fits no known brightness scale"),
}
UNFIT = {
    "one-pixel.png": (lambda: _blank(1, 1), "1×1 px; a bag needs at least 64×64 px"),
    "thin.png": (lambda: _blank(1, 5000), "1×5000 px; a bag needs at least 64×64 px"),
    "flat.png": (lambda: _blank(5000, 1), "5000×1 px; a bag needs at least 64×64 px"),
    "31-pixels.png": (lambda: _blank(31, 31), "31×31 px; a bag needs at least 64×64 px"),
    "63-pixels.png": (lambda: _blank(63, 224), "63×224 px; a bag needs at least 64×64 px"),
    "ribbon.png": (lambda: _blank(600, 64), "600×64 px, more than 8 times as long as it is wide"),
}
NOTED = {
    "turned.jpg": (lambda: _turned("JPEG", 6), _TURNED),
    "turned.png": (lambda: _turned("PNG", 3), _TURNED),
    "turned.webp": (lambda: _turned("WEBP", 8), _TURNED),
    "half-transparent.png": (lambda: encoded("PNG", _transparent(128)), _ON_WHITE),
    "transparent-palette.png": (lambda: encoded("PNG", tissue().quantize(16), transparency=2), _ON_WHITE),
    "printing-colours.jpg": (lambda: encoded("JPEG", tissue().convert("CMYK")), "CMYK"),
    "printing-colours.tif": (lambda: encoded("TIFF", tissue().convert("CMYK")), "CMYK"),
    "lab-colours.tif": (lambda: encoded("TIFF", tissue().convert("LAB")), "Lab colours"),
    "ycbcr-colours.tif": (lambda: encoded("TIFF", tissue().convert("YCbCr")), "YCbCr colours"),
    "palette.png": (lambda: encoded("PNG", tissue().quantize(64)), "palette colours"),
    "palette.bmp": (lambda: encoded("BMP", tissue().quantize(64)), "palette colours"),
    "grey-with-transparency.png": (lambda: encoded("PNG", tissue().convert("LA")), _NO_COLOUR),
    "one-bit.png": (lambda: encoded("PNG", tissue().convert("1")), "black and white only"),
    "grey.png": (lambda: encoded("PNG", tissue().convert("L")), _NO_COLOUR),
    "grey.jpg": (lambda: encoded("JPEG", tissue().convert("L")), _NO_COLOUR),
    "grey-as-colour.png": (lambda: encoded("PNG", tissue().convert("L").convert("RGB")), _NO_COLOUR),
    "16-bit-grey.png": (lambda: encoded("PNG", Image.fromarray(_wide(_grey()))), "0–65535 to 0–255"),
    "12-bit-grey.png": (lambda: encoded("PNG", Image.fromarray(_grey().astype(np.uint16) * 16)), "0–4095 to 0–255"),
    "16-bit-grey.tif": (lambda: tiff(_wide(_grey())), "0–65535 to 0–255"),
    "16-bit-inverted.tif": (lambda: tiff(_wide(_grey()), photometric="miniswhite"), "0–65535 to 0–255"),
    "float-to-one.tif": (lambda: tiff(_float(0.5)), "0–1 to 0–255"),
    "16-bit-colours.png": (lambda: wide_png(_wide()), _REDUCED),
    "16-bit-colours.tif": (lambda: tiff(_wide(), photometric="rgb"), _REDUCED),
    "profile-of-garbage.jpg": (lambda: encoded("JPEG", icc_profile=b"not a profile" * 20), _UNUSED),
    "four-pages.tif": (lambda: _pages(4), "4 pages; page 1 was used"),
    "endless-pages.tif": (lambda: _pages(150), "more than 100 pages; page 1 was used"),
    "animated.webp": (lambda: encoded("WEBP", save_all=True, append_images=[tissue().rotate(90)]), _FIRST_FRAME),
    "animated.png": (lambda: encoded("PNG", save_all=True, append_images=[tissue().rotate(90)]), _FIRST_FRAME),
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
    "profile-of-5-megabytes.jpg": (lambda: encoded("JPEG", icc_profile=DISPLAY_P3.ljust(5 * MEGABYTE, b"\0")), _UNUSED),
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
    "jpeg-called.png": (lambda: encoded("JPEG"), ""),
    "png-called.jpg": (lambda: encoded("PNG"), ""),
    "opaque-alpha.png": (lambda: encoded("PNG", _transparent(255)), ""),
    "big-endian.tif": (lambda: tiff(np.asarray(tissue()), byteorder=">", photometric="rgb"), ""),
    "bigtiff.tif": (lambda: tiff(np.asarray(tissue()), bigtiff=True, photometric="rgb"), ""),
    "camera-data-of-garbage.jpg": (lambda: encoded("JPEG", exif=b"Exif\0\0II*\0\xff\xff\xff\xffgarbage"), ""),
    "plain-text-of-20-megabytes.png": (_long_text, ""),
    "archive-behind-a-picture.png": (lambda: encoded("PNG") + b"PK\x03\x04\x14" + bytes(60), ""),
    "web-page-behind-a-picture.jpg": (lambda: encoded("JPEG") + b"<script>alert(1)</script>", ""),
    "chunk-nobody-knows.png": (lambda: encoded("PNG")[:-12] + chunk(b"teSt", b"x" * 99) + encoded("PNG")[-12:], ""),
    "film-behind-a-picture.jpg": (motion_photo, ""),
    "tags-that-share-their-bytes.tif": (lambda: tiff_of_overlapping_tags(2000, 4), ""),
    "camera-data-that-say-nothing.png": (lambda: _saying(b"eXIf", exif_bomb(4, orientation=1)), ""),
    "srgb-profile.png": (lambda: encoded("PNG", icc_profile=_srgb()), ""),
    "srgb-profile.tif": (lambda: encoded("TIFF", icc_profile=_srgb()), ""),
    "srgb-by-name.png": (lambda: _saying(b"sRGB", b"\0"), ""),
    "srgb-by-numbers.png": (lambda: with_chunk(_saying(b"cHRM", _SRGB_POINTS), b"gAMA", _points(0.45455)), ""),
    "coded-srgb.png": (partial(_saying, b"cICP", bytes([1, 13, 0, 1])), ""),
}
DOUBTED = {
    "white.png": (lambda: flat("white"), "too little tissue"),
    "black.png": (lambda: flat("black"), "out of focus, magnified too far or largely empty"),
    "one-colour.png": (lambda: flat("#c080b0"), "out of focus, magnified too far or largely empty"),
    "blurred.png": (blurred, "out of focus"),
    "noise.png": (noise, "grainier than any tile"),
    "screenshot.png": (screenshot, "no stained section"),
    "fluorescence.png": (fluorescence, "another stain"),
    "antibody-stain.png": (brown_stain, "another stain"),
    "landscape.png": (landscape, "another stain"),
}


INPUTS: tuple[BadInput, ...] = (
    *_rows(Outcome.REFUSED, FOREIGN),
    *_rows(Outcome.REFUSED, DAMAGED),
    *_rows(Outcome.REFUSED, HOSTILE),
    *_rows(Outcome.REFUSED, UNUSABLE),
    *_rows(Outcome.UNFIT, UNFIT),
    *_rows(Outcome.NOTED, NOTED),
    *_rows(Outcome.TAKEN, TAKEN),
    *_rows(Outcome.DOUBTED, DOUBTED),
)


NASTY_NAMES = (
    '"><img src=x onerror=alert(1)>.png', "<script>alert(1)</script>.png", "=cmd|'/c calc'!A1.png", "+1+1.png",
    "-2+3.png", "@SUM(A1).png", "\t=1+1.png", "\r=1+1.png", " =1+1.png", "\u200b=1+1.png", "\ufe0f=1+1.png",
    "\u3164+1.png", "\u034f\u200d@SUM(A1).png", "x;\ufeff=1+1.png", "x;=cmd|'/c calc'!A1.png", "../../etc/passwd.png",
    "..\\..\\windows\\system.ini.png", "/etc/passwd", "a\r\nX-Injected: y.png", "NUL\0byte.png", "\u202egnp.exe",
    "\u2066left\u2069.png", "x" * 300 + ".png",
    "**bold** [link](http://example.com) $x^2$ :red[text] :material/home:.png", "![](http://example.com/pixel.png)",
    "www.example.com.png", "&lt;b&gt;.png", "%{x} %2e%2e%2f.png", "\U0001f52c \u0642\u0648\u0644\u0648\u0646.png",
    "\ud800.png", "", ".", "CON.png",
)  # fmt: skip
"""File names that strangers think of."""


def write_all(folder: Path, rows: tuple[BadInput, ...] = INPUTS) -> None:
    """Write the inputs into `folder`, each under its own name, and what must come of each."""
    folder.mkdir(parents=True, exist_ok=True)
    for row in rows:
        (folder / row.name).write_bytes(row.make())
    lines = [f"{row.name}\t{row.outcome.value}\t{row.says}" for row in rows]
    (folder / "expected.tsv").write_text("\n".join(["file\toutcome\tsays", *lines, ""]), encoding="utf-8")


if __name__ == "__main__":
    write_all(Path(sys.argv[1]))
