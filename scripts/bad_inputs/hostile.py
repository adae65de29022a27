"""Files made to exhaust the server: bombs, headers that lie, endless lists of parts, unsafe metadata."""

from __future__ import annotations

import zlib

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
    webp_claiming,
    with_chunk,
)

_LARGEST = "at most 40 million in all and 20,000 per side"
_DAMAGED = "incomplete or damaged"
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


FILES = {
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
