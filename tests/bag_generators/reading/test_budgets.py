"""The largest pictures of every kind are read within the limits of the process that reads uploads."""

import os

import numpy as np
import pytest
from PIL import Image, ImageDraw

from bag_generators.uploads import read_upload
from tests.support.bad_files import DISPLAY_P3, encoded, ink_profile, tiff, wide_png

pytestmark = [pytest.mark.skipif(os.name != "posix", reason="limits are set by the system"), pytest.mark.slow]


def drawn(mode="RGB", width=8000, height=5000):
    """A large picture that is written in a moment."""
    image = Image.new("RGB", (width, height), "pink")
    ImageDraw.Draw(image).ellipse((99, 99, width - 99, height - 99), "purple")
    if mode == "RGBA":
        image.putalpha(Image.linear_gradient("L").resize(image.size))
    return image if mode in ("RGB", "RGBA") else image.convert(mode)


def turned():
    exif = Image.Exif()
    exif[274] = 6
    return exif


LARGEST = {
    "plain.png": lambda: encoded("PNG", drawn(), exif=turned(), icc_profile=DISPLAY_P3, compress_level=1),
    "transparent.png": lambda: encoded("PNG", drawn("RGBA"), icc_profile=DISPLAY_P3, compress_level=1),
    "16-bit.png": lambda: wide_png(np.asarray(drawn()).astype(np.uint16) * 257),
    "palette.png": lambda: encoded("PNG", drawn("P"), transparency=3, compress_level=1),
    "plain.jpg": lambda: encoded("JPEG", drawn(), exif=turned(), subsampling=0),
    "ink.jpg": lambda: encoded("JPEG", drawn("CMYK"), icc_profile=ink_profile()),
    "progressive.jpg": lambda: encoded("JPEG", drawn(), progressive=True, subsampling=0),
    "packed.tif": lambda: encoded("TIFF", drawn(), compression="tiff_adobe_deflate", exif=turned()),
    "one-piece.tif": lambda: tiff(np.asarray(drawn()), photometric="rgb", compression="zlib", rowsperstrip=5000),
    "lab.tif": lambda: encoded("TIFF", drawn("LAB"), compression="tiff_adobe_deflate"),
    "float.tif": lambda: tiff(np.asarray(drawn("L")) / np.float32(255), compression="zlib", rowsperstrip=64),
    "plain.webp": lambda: encoded("WEBP", drawn(), method=0, exif=turned()),
    "transparent.webp": lambda: encoded("WEBP", drawn("RGBA"), method=0, icc_profile=DISPLAY_P3),
}


@pytest.mark.parametrize("name", LARGEST)
def test_the_largest_pictures_of_every_kind_are_read(name):
    image = read_upload(LARGEST[name]())
    assert image.width * image.height == 40_000_000
