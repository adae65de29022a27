"""Files that are refused: other kinds of file under the name of a picture, broken pictures, and files made to harm.

These exhaust a server that has no limits: bombs, headers that lie, endless lists of parts, unsafe metadata.
"""

from __future__ import annotations

import zlib
from functools import partial

import numpy as np
from PIL import PngImagePlugin

from bag_generators.formats import MAX_BYTES
from scripts.bad_inputs import metadata
from scripts.bad_inputs.encodings import (
    bmp_claiming,
    encoded,
    jpeg_claiming,
    jpeg_of_scans,
    jpeg_with,
    png_bomb,
    png_claiming,
    tiff,
    tiff_of_strips,
    tiff_of_tags,
    tiff_with,
    tissue,
    webp_claiming,
    with_chunk,
)

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
    "animated.gif.png": (
        lambda: encoded("GIF", save_all=True, append_images=[tissue().rotate(90)]),
        "a GIF picture",
    ),
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
    "bomb-9000.png": (lambda: png_bomb(9000), f"9,000 × 9,000 pixels; {_LARGEST}"),
    "bomb-10000.png": (lambda: png_bomb(10_000), f"10,000 × 10,000 pixels; {_LARGEST}"),
    "bomb-15000.png": (lambda: png_bomb(15_000), f"15,000 × 15,000 pixels; {_LARGEST}"),
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
    **metadata.HOSTILE,
    "profile-of-garbage.png": (lambda: with_chunk(encoded("PNG"), b"iCCP", b"name\0\7garbage"), _METADATA),
}
