"""Sound pictures that store their values in unusual ways, or are too small: converted with a note, or refused."""

from __future__ import annotations

import numpy as np
from PIL import Image, PngImagePlugin

from scripts.bad_inputs.encodings import chunk, encoded, tiff, tiff_with, tissue, wide_png

_NO_COLOUR = "has no colour"
_UNREADABLE = "stores its pixels in a way we can't read"
_NO_SCALE = "fits no known brightness scale"
_TURNED = "turned upright"


def _grey() -> np.ndarray:
    return np.asarray(tissue().convert("L"))


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


REFUSED = {
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
    "half-transparent.png": (lambda: encoded("PNG", _transparent(128)), "Transparent parts were laid on white"),
    "transparent-palette.png": (
        lambda: encoded("PNG", tissue().quantize(16), transparency=2),
        "Transparent parts were laid on white",
    ),
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
    "16-bit-grey.png": (lambda: encoded("PNG", Image.fromarray(_grey().astype(np.uint16) * 257)), "0–65535 to 0–255"),
    "12-bit-grey.png": (lambda: encoded("PNG", Image.fromarray(_grey().astype(np.uint16) * 16)), "0–4095 to 0–255"),
    "16-bit-grey.tif": (lambda: tiff(_grey().astype(np.uint16) * 257), "0–65535 to 0–255"),
    "16-bit-inverted.tif": (
        lambda: tiff(_grey().astype(np.uint16) * 257, photometric="miniswhite"),
        "0–65535 to 0–255",
    ),
    "float-to-one.tif": (lambda: tiff(_float(0.5)), "0–1 to 0–255"),
    "16-bit-colours.png": (lambda: wide_png(np.asarray(tissue()).astype(np.uint16) * 257), "reduced to 8 bits"),
    "16-bit-colours.tif": (
        lambda: tiff(np.asarray(tissue()).astype(np.uint16) * 257, photometric="rgb"),
        "reduced to 8 bits",
    ),
    "profile-of-garbage.jpg": (
        lambda: encoded("JPEG", icc_profile=b"not a profile" * 20),
        "profile in the file can't",
    ),
    "four-pages.tif": (lambda: _pages(4), "4 pages; page 1 was used"),
    "endless-pages.tif": (lambda: _pages(150), "more than 100 pages; page 1 was used"),
    "animated.webp": (
        lambda: encoded("WEBP", save_all=True, append_images=[tissue().rotate(90)]),
        "animated (2 frames); the first one was used",
    ),
    "animated.png": (
        lambda: encoded("PNG", save_all=True, append_images=[tissue().rotate(90)]),
        "animated (2 frames); the first one was used",
    ),
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
}
