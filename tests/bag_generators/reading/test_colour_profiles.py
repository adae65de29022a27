"""Colours that were saved with a profile come out as sRGB: compared with the published matrices."""

import struct
import zlib

import numpy as np
import pytest
from PIL import Image, ImageCms

from bag_generators.image import load
from bag_generators.reading.pixel_values import CONVERTED, MOST_PROFILE_BYTES, UNUSED
from tests.support.bad_files import (
    D65,
    DISPLAY_P3,
    P3_PRIMARIES,
    PROPHOTO,
    SRGB,
    SRGB_PRIMARIES,
    encoded,
    ink_profile,
    profile_of_endless_elements,
    tiff_with_entries,
    tissue,
    with_chunk,
)

TISSUE = np.asarray(tissue())
# CSS Color Module 4 (Display P3) and B. Lindbloom (ProPhoto, adapted by Bradford's matrix).
P3_TO_XYZ = [[0.4865709, 0.2656677, 0.1982173], [0.2289746, 0.6917385, 0.0792869], [0.0, 0.0451134, 1.0439444]]
XYZ_TO_SRGB = [
    [3.2409699, -1.5373832, -0.4986108],
    [-0.9692436, 1.8759675, 0.0415551],
    [0.0556301, -0.203977, 1.0569715],
]
PROPHOTO_TO_XYZ = [[0.7976749, 0.1351917, 0.0313534], [0.2880402, 0.7118741, 0.0000857], [0.0, 0.0, 0.82521]]
XYZ_D50_TO_SRGB = [
    [3.1338561, -1.6168667, -0.4906146],
    [-0.9787684, 1.9161415, 0.033454],
    [0.0719453, -0.2289914, 1.4052427],
]
P3_TO_SRGB = np.array(XYZ_TO_SRGB) @ P3_TO_XYZ
PROPHOTO_TO_SRGB = np.array(XYZ_D50_TO_SRGB) @ PROPHOTO_TO_XYZ


def linear(values):
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def curved(values):
    values = np.clip(values, 0, 1)
    return np.where(values <= 0.0031308, values * 12.92, 1.055 * values ** (1 / 2.4) - 0.055)


def gamma_1_8(values):
    return values**1.8


def to_srgb(pixels, matrix, decode):
    return np.rint(255 * curved(decode(pixels / 255.0) @ np.array(matrix).T))


def largest_difference(one, other):
    return np.abs(one.astype(int) - other.astype(int)).max()


@pytest.mark.parametrize(
    ("profile", "matrix", "decode"),
    [(DISPLAY_P3, P3_TO_SRGB, linear), (PROPHOTO, PROPHOTO_TO_SRGB, gamma_1_8)],
    ids=["Display P3", "ProPhoto"],
)
@pytest.mark.parametrize("format_", ["PNG", "TIFF", "WEBP"])
def test_wide_colours_become_what_the_matrices_say(format_, profile, matrix, decode):
    image = load(encoded(format_, icc_profile=profile, lossless=True))
    assert largest_difference(image.pixels, to_srgb(TISSUE, matrix, decode)) <= 2
    assert largest_difference(image.pixels, TISSUE) > 10
    assert image.notes == (CONVERTED,)


def test_a_bmp_of_the_newest_kind():
    plain = encoded("BMP")
    head = bytearray(struct.pack("<I", 124) + plain[18:54]).ljust(124, b"\0")
    head[56:60] = b"DEBM"
    pixels = plain[54:]
    struct.pack_into("<II", head, 112, 124 + len(pixels), len(DISPLAY_P3))
    data = plain[:10] + struct.pack("<I", 14 + 124) + bytes(head) + pixels + DISPLAY_P3
    image = load(data)
    assert image.notes == (CONVERTED,)
    assert np.array_equal(image.pixels, load(encoded("PNG", icc_profile=DISPLAY_P3)).pixels)


@pytest.mark.parametrize("profile", [SRGB, ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()])
@pytest.mark.parametrize("format_", ["PNG", "JPEG", "TIFF", "WEBP"])
def test_srgb_changes_nothing_and_says_nothing(format_, profile):
    image = load(encoded(format_, icc_profile=profile))
    assert np.array_equal(image.pixels, load(encoded(format_)).pixels)
    assert image.notes == ()


def png_saying(**chunks):
    data = encoded("PNG")
    for name, content in chunks.items():
        data = with_chunk(data, name.encode(), content)
    return data


def points(*values):
    return struct.pack(f">{len(values)}I", *(round(value * 100_000) for value in values))


P3_POINTS = points(*D65, *np.ravel(P3_PRIMARIES))
SRGB_POINTS = points(*D65, *np.ravel(SRGB_PRIMARIES))


@pytest.mark.parametrize(
    "chunks",
    [
        {"gAMA": points(0.45455)},
        {"gAMA": points(0.45)},
        {"cHRM": SRGB_POINTS},
        {"cHRM": SRGB_POINTS, "gAMA": points(0.45455)},
        {"sRGB": b"\0", "gAMA": points(1.0), "cHRM": P3_POINTS},
        {"cICP": bytes([1, 13, 0, 1]), "gAMA": points(1.0)},
    ],
    ids=lambda chunks: " ".join(chunks),
)
def test_a_png_that_is_srgb_in_other_words_stays_as_it_is(chunks):
    image = load(png_saying(**chunks))
    assert np.array_equal(image.pixels, TISSUE)
    assert image.notes == ()


def test_a_profile_comes_before_gamma_and_before_a_code():
    profile = b"P3\0\0" + zlib.compress(DISPLAY_P3)
    expected = load(encoded("PNG", icc_profile=DISPLAY_P3)).pixels
    assert np.array_equal(load(png_saying(iCCP=profile, gAMA=points(1.0))).pixels, expected)
    assert np.array_equal(load(png_saying(iCCP=profile, cICP=bytes([9, 16, 0, 1]))).pixels, expected)


def test_transparent_parts_are_converted_before_they_are_laid_on_white():
    half = tissue().convert("RGBA")
    half.putalpha(128)
    image = load(encoded("PNG", half, icc_profile=DISPLAY_P3))
    expected = to_srgb(TISSUE, P3_TO_SRGB, linear) * (128 / 255) + 127
    assert np.abs(image.pixels - expected).max() <= 2
    assert image.notes == ("Transparent parts were laid on white.", CONVERTED)


def test_a_palette_is_converted_too():
    palette = tissue().quantize(16)
    image = load(encoded("PNG", palette, icc_profile=DISPLAY_P3))
    assert largest_difference(image.pixels, to_srgb(np.asarray(palette.convert("RGB")), P3_TO_SRGB, linear)) <= 2


def test_large_pictures_are_converted_in_bands_like_small_ones(monkeypatch):
    whole = load(encoded("PNG", icc_profile=PROPHOTO)).pixels
    monkeypatch.setattr("bag_generators.reading.pixel_values.PIXELS_A_BAND", 1000)
    assert np.array_equal(load(encoded("PNG", icc_profile=PROPHOTO)).pixels, whole)


def grey_profile(gamma):
    """A profile of grey values with a plain gamma."""
    tone = b"para" + bytes(4) + struct.pack(">HHi", 0, 0, round(gamma * 65536))
    head = bytearray(DISPLAY_P3[:128])
    head[16:20] = b"GRAY"
    white = DISPLAY_P3[DISPLAY_P3.index(b"XYZ ", 128) :][:20]
    table = struct.pack(">I4sII4sII", 2, b"wtpt", 156, 20, b"kTRC", 176, len(tone))
    struct.pack_into(">I", head, 0, 176 + len(tone))
    return bytes(head) + table + white + tone


def test_grey_values_with_a_profile_of_grey():
    grey = tissue().convert("L")
    image = load(encoded("PNG", grey, icc_profile=grey_profile(1.0)))
    expected = np.rint(255 * curved(np.asarray(grey) / 255.0))
    assert largest_difference(image.pixels[..., 0], expected) <= 1
    assert image.notes[0] == CONVERTED


def test_a_profile_of_grey_is_no_profile_for_colours():
    image = load(encoded("PNG", icc_profile=grey_profile(1.0)))
    assert np.array_equal(image.pixels, TISSUE)
    assert image.notes == (UNUSED,)


@pytest.mark.parametrize(
    "profile",
    [
        b"not a profile" * 20,
        DISPLAY_P3[:131],
        DISPLAY_P3[:-40],
        DISPLAY_P3.ljust(MOST_PROFILE_BYTES + 1, b"\0"),
        DISPLAY_P3[:128] + struct.pack(">I", 101) + DISPLAY_P3[132:],
        DISPLAY_P3[:128] + struct.pack(">I", 2**32 - 1) + DISPLAY_P3[132:],
        profile_of_endless_elements(),
        DISPLAY_P3.replace(b"acsp", b"\0\0\0\0"),
    ],
    ids=["garbage", "head", "cut", "too large", "101 tags", "endless tags", "endless elements", "unsigned"],
)
def test_what_can_not_be_used_is_said_and_changes_nothing(profile):
    files = [tiff_with_entries(encoded("TIFF"), [(34675, 7, len(profile), profile)])]
    if len(profile) <= 2**20:  # beyond that a PNG is refused
        files.append(png_saying(iCCP=b"name\0\0" + zlib.compress(profile)))
    for data in files:
        image = load(data)
        assert np.array_equal(image.pixels, TISSUE)
        assert image.notes == (UNUSED,)


@pytest.mark.parametrize("format_", ["TIFF", "JPEG"])
@pytest.mark.parametrize(("black", "expected"), [(0, 255), (128, 119), (255, 0)])
def test_printing_colours_go_through_their_profile(format_, black, expected):
    ink = Image.new("CMYK", (64, 64), (0, 0, 0, black))
    image = load(encoded(format_, ink, icc_profile=ink_profile()))
    assert np.abs(image.pixels.astype(int) - expected).max() <= 2
    assert image.notes[:2] == ("The printing colours (CMYK) were converted to RGB.", CONVERTED)
