"""The orientation is found in the bytes of the camera data, and nothing else of them is read."""

import contextlib
import struct

import numpy as np
import pytest
from PIL import Image, ImageOps, PngImagePlugin, TiffImagePlugin

from bag_generators.errors import InputError
from bag_generators.image import load
from bag_generators.reading.orientation import MOST_EXIF_ENTRIES, from_hexadecimal, orientation_of, turned_upright
from scripts.bad_inputs.encodings import encoded, tissue, with_chunk
from scripts.bad_inputs.metadata import exif_bomb, exif_in_jpeg, exif_in_webp, tiff_with_bomb

TISSUE = np.asarray(tissue())


def exif(*entries, order="<", first=8):
    table = b"".join(struct.pack(f"{order}HHI4s", *entry) for entry in entries)
    letters = b"II" if order == "<" else b"MM"
    return letters + struct.pack(order + "HI", 42, first) + struct.pack(order + "H", len(entries)) + table + bytes(4)


def short(value, order="<"):
    return struct.pack(order + "H", value).ljust(4, b"\0")


@pytest.mark.parametrize("orientation", range(1, 9))
def test_pixels_are_turned_as_pillow_would_turn_them(orientation):
    picture = Image.fromarray(TISSUE[:99])
    picture.getexif()[274] = orientation
    turned = turned_upright(np.asarray(picture), orientation)
    assert np.array_equal(turned, np.asarray(ImageOps.exif_transpose(picture)))
    assert turned.flags.c_contiguous


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("value", range(1, 9))
def test_the_number_is_found_in_either_byte_order(order, value):
    data = exif((271, 2, 4, b"abc\0"), (274, 3, 1, short(value, order)), order=order)
    assert orientation_of(data) == value
    assert orientation_of(b"Exif\0\0" + data) == value


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"II",
        b"II*\0",
        b"Exif\0\0",
        b"garbage, not camera data",
        exif((274, 3, 1, short(0))),
        exif((274, 3, 1, short(9))),
        exif((274, 3, 2, short(6))),
        exif((274, 2, 1, b"6\0\0\0")),
        exif((274, 12, 1, short(6))),
        exif((271, 3, 1, short(6))),
        exif((274, 3, 1, short(6)), first=2**32 - 1),
        exif((274, 3, 1, short(6)))[:14],
        exif(*[(1, 3, 1, short(1))] * MOST_EXIF_ENTRIES, (274, 3, 1, short(6))),
    ],
)
def test_what_can_not_be_read_says_nothing(data):
    assert orientation_of(data) == 1


def test_a_directory_that_breaks_off_is_read_as_far_as_it_goes():
    whole = exif((274, 3, 1, short(6)), (315, 2, 4, b"abc\0"))
    assert orientation_of(whole[:-10]) == 6


def test_the_first_of_two_counts():
    assert orientation_of(exif((274, 3, 1, short(3)), (274, 3, 1, short(6)))) == 3


@pytest.mark.parametrize("packet", [b'<x tiff:Orientation="6"/>', "<tiff:Orientation>6</tiff:Orientation>"])
def test_xmp_is_asked_where_camera_data_are_silent(packet):
    assert orientation_of(None, packet) == 6
    assert orientation_of(exif((271, 3, 1, short(6))), packet) == 6
    assert orientation_of(exif((274, 3, 1, short(3))), packet) == 3


def test_xmp_is_read_only_so_far():
    assert orientation_of(None, b" " * 2**20 + b'tiff:Orientation="6"') == 1


def test_camera_data_written_as_text():
    text = "\nexif\n      30\n" + exif((274, 3, 1, short(6))).hex()
    assert orientation_of(from_hexadecimal(text)) == 6
    assert from_hexadecimal("\nexif\n 3\nno digits") is None
    info = PngImagePlugin.PngInfo()
    info.add_text("Raw profile type exif", text)
    assert np.array_equal(load(encoded("PNG", pnginfo=info)).pixels, np.rot90(TISSUE, -1))


@pytest.mark.parametrize("marker", [0xC8, 0xD0, 0xD9, 0xF0, 0xFD, 0x01, 0xE2, 0xFE, 0xCC])
def test_camera_data_hidden_in_a_segment_are_not_found_by_pillow_either(marker, monkeypatch):
    data, plain = exif_in_jpeg(exif_bomb(0)), encoded("JPEG")
    hidden = data[2 : data.index(plain[20:])]
    monkeypatch.setattr(Image.Exif, "load", lambda *_: pytest.fail("read"))
    with contextlib.suppress(InputError):
        load(data[:2] + bytes([0xFF, marker]) + struct.pack(">H", len(hidden) + 2) + data[2:])


@pytest.mark.parametrize(
    "make",
    [
        lambda bomb: with_chunk(encoded("PNG"), b"eXIf", bomb),
        exif_in_webp,
        exif_in_jpeg,
        lambda bomb: exif_in_jpeg(bomb, jfif=True),
        lambda _: tiff_with_bomb(1),
    ],
    ids=["PNG", "WebP", "JPEG", "JPEG with JFIF", "TIFF"],
)
def test_pillow_never_reads_camera_data(make, monkeypatch):
    data = make(exif_bomb(1))
    monkeypatch.setattr(Image.Exif, "load", lambda *_: pytest.fail("read"))
    monkeypatch.setattr(Image.Exif, "tobytes", lambda *_: pytest.fail("written"))
    monkeypatch.setattr(TiffImagePlugin.ImageFileDirectory_v2, "tobytes", lambda *_: pytest.fail("written"))
    image = load(data)
    assert image.notes == ("The picture was turned upright as its camera data say.",)
    plain = load(encoded("JPEG")).pixels if data.startswith(b"\xff\xd8") else TISSUE
    assert np.array_equal(image.pixels, np.rot90(plain, -1))
