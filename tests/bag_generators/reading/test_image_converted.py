"""Pictures that open after a conversion: the pixels a person would expect, and a note that says so."""

import cv2
import numpy as np
import pytest
from PIL import Image, PngImagePlugin

from bag_generators.image import load
from tests.support.bad_files import encoded, tiff, with_chunk

COLOURS = np.random.default_rng(2).integers(0, 256, (40, 64, 3), dtype=np.uint8)
RAMP = np.linspace(0, 255, 64, dtype=np.uint8)[None].repeat(40, axis=0)
NO_COLOUR = "The picture has no colour, only grey values; a result for stained tissue would be unreliable."


def png_by_opencv(values):
    return cv2.imencode(".png", values)[1].tobytes()


def grey(values):
    return np.repeat(values[:, :, None], 3, axis=2)


# How a person sees the stored picture for each value of the orientation tag.
UPRIGHT = {
    2: lambda p: p[:, ::-1],
    3: lambda p: p[::-1, ::-1],
    4: lambda p: p[::-1],
    5: lambda p: p.transpose(1, 0, 2),
    6: lambda p: np.rot90(p, -1),
    7: lambda p: p.transpose(1, 0, 2)[::-1, ::-1],
    8: lambda p: np.rot90(p),
}


@pytest.mark.parametrize("orientation", UPRIGHT)
@pytest.mark.parametrize("format_", ["PNG", "TIFF", "WEBP"])
def test_turned_pictures_come_upright(format_, orientation):
    exif = Image.Exif()
    exif[0x0112] = orientation
    image = load(encoded(format_, Image.fromarray(COLOURS), exif=exif, lossless=True))
    assert np.array_equal(image.pixels, UPRIGHT[orientation](COLOURS))
    assert image.notes == ("The picture was turned upright as its camera data say.",)
    assert image.pixels.flags.c_contiguous


@pytest.mark.parametrize("say", [{"xmp": b'<x tiff:Orientation="6"/>'}, {"text": True}], ids=["XMP", "text"])
def test_the_orientation_may_stand_in_other_places(say):
    info = PngImagePlugin.PngInfo()
    exif = Image.Exif()
    exif[0x0112] = 6
    if "xmp" in say:
        info.add_itxt("XML:com.adobe.xmp", say["xmp"].decode())
    else:
        info.add_text("Raw profile type exif", "\nexif\n      30\n" + exif.tobytes().hex())
    image = load(encoded("PNG", Image.fromarray(COLOURS), pnginfo=info))
    assert np.array_equal(image.pixels, UPRIGHT[6](COLOURS))


@pytest.mark.parametrize("exif", [b"", b"II", b"Exif\0\0", b"garbage, not camera data", b"II*\0\xff\xff\xff\xff"])
def test_camera_data_that_can_not_be_read_say_nothing(exif):
    image = load(with_chunk(encoded("PNG", Image.fromarray(COLOURS)), b"eXIf", exif))
    assert np.array_equal(image.pixels, COLOURS)
    assert image.notes == ()


@pytest.mark.parametrize("orientation", [0, 1, 9, 65535])
def test_a_normal_or_senseless_orientation_changes_nothing(orientation):
    exif = Image.Exif()
    exif[0x0112] = orientation
    image = load(encoded("PNG", Image.fromarray(COLOURS), exif=exif))
    assert np.array_equal(image.pixels, COLOURS)
    assert image.notes == ()


@pytest.mark.parametrize("format_", ["PNG", "TIFF", "WEBP"])
def test_transparency_is_laid_on_white(format_):
    alpha = np.full((40, 64, 1), 128, np.uint8)
    alpha[:10], alpha[30:] = 0, 255
    image = load(encoded(format_, Image.fromarray(np.concatenate([COLOURS, alpha], axis=2)), lossless=True, exact=True))
    share = alpha / 255.0
    assert np.abs(image.pixels - (COLOURS * share + 255 * (1 - share))).max() <= 1
    assert (image.pixels[:10] == 255).all()
    assert image.notes == ("Transparent parts were laid on white.",)


def test_a_transparent_colour_and_a_transparent_palette_entry_are_laid_on_white():
    two = np.where(RAMP[..., None] > 99, np.uint8([200, 30, 90]), np.uint8([10, 20, 30]))
    keyed = load(encoded("PNG", Image.fromarray(two), transparency=(10, 20, 30)))
    expected = np.where(RAMP[..., None] > 99, [200, 30, 90], 255)
    assert np.array_equal(keyed.pixels, expected)
    palette = Image.fromarray(two).quantize(2)
    hidden = palette.getpixel((0, 0))
    indexed = load(encoded("PNG", palette, transparency=hidden))
    assert np.array_equal(indexed.pixels, expected)
    assert indexed.notes == (
        "The palette colours were converted to RGB.",
        "Transparent parts were laid on white.",
    )


@pytest.mark.parametrize("format_", ["PNG", "JPEG", "TIFF", "BMP"])
def test_8_bit_grey_opens_with_a_warning(format_):
    image = load(encoded(format_, Image.fromarray(RAMP)))
    assert np.abs(image.pixels.astype(int) - grey(RAMP)).max() <= (3 if format_ == "JPEG" else 0)
    assert image.notes == (NO_COLOUR,)


def test_grey_stored_as_rgb_is_warned_of_as_well():
    assert load(encoded("PNG", Image.fromarray(grey(RAMP)))).notes == (NO_COLOUR,)
    almost = grey(RAMP)
    almost[3, 5, 0] ^= 1
    assert load(encoded("PNG", Image.fromarray(almost))).notes == ()


def test_grey_with_transparency():
    half = Image.fromarray(np.dstack([RAMP, np.full_like(RAMP, 128)]))
    assert half.mode == "LA"
    image = load(encoded("PNG", half))
    assert np.abs(image.pixels - (grey(RAMP) * (128 / 255) + 127)).max() <= 1
    assert image.notes == ("Transparent parts were laid on white.", NO_COLOUR)


@pytest.mark.parametrize("bits", [10, 12, 14, 16])
@pytest.mark.parametrize("write", [png_by_opencv, tiff, lambda v: tiff(v, byteorder=">")])
def test_16_bit_grey_is_scaled_by_the_range_of_its_camera(write, bits):
    top = 2**bits - 1
    values = np.linspace(0, top, 64).round().astype(np.uint16)[None].repeat(40, axis=0)
    image = load(write(values))
    assert np.array_equal(image.pixels, grey(np.rint(values * (255 / top)).astype(np.uint8)))
    assert image.notes == (f"16-bit grey values were scaled from 0–{top} to 0–255.", NO_COLOUR)


def test_8_bit_values_in_a_16_bit_file_stay_as_they_are():
    assert np.array_equal(load(tiff(RAMP.astype(np.uint16))).pixels, grey(RAMP))


@pytest.mark.parametrize("top", [1, 255, 65535])
def test_float_grey_is_scaled_by_its_range(top):
    values = RAMP.astype(np.float32) * np.float32(top / 255)
    image = load(tiff(values))
    assert np.array_equal(image.pixels, grey(RAMP))
    assert image.notes == (f"Float grey values were scaled from 0–{top} to 0–255.", NO_COLOUR)


def test_16_bit_colours_with_transparency():
    wide = np.dstack([COLOURS, np.full((40, 64), 128, np.uint8)]).astype(np.uint16) * 257
    image = load(png_by_opencv(wide[..., [2, 1, 0, 3]]))
    assert np.abs(image.pixels - (COLOURS * (128 / 255) + 127)).max() <= 1
    assert image.notes == ("Transparent parts were laid on white.", "16-bit colours were reduced to 8 bits.")


def test_a_small_region_saved_by_a_slide_scanner_opens():
    data = tiff(COLOURS, tile=(16, 16), photometric="rgb", description="Aperio Image Library v11.2.1", metadata=None)
    assert np.array_equal(load(data).pixels, COLOURS)
