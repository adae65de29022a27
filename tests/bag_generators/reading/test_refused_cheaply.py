"""A bomb is refused from its header: no decoder runs and hardly any memory is used.

How long it takes is measured by `benchmarks/bench_refusals.py`.
"""

import struct
import sys
import tracemalloc

import numpy as np
import pytest
from PIL import Image, ImageFile, TiffImagePlugin, WebPImagePlugin

from bag_generators import InputError, load
from bag_generators.reading.slow_files import why_slow
from bag_generators.reading.tiff_pages import directories
from benchmarks import bench_refusals
from scripts.bad_inputs import hostile
from scripts.bad_inputs.encodings import (
    bmp_claiming,
    chunk,
    encoded,
    jpeg_of_scans,
    tiff,
    tiff_of_strips,
    tiff_of_tags,
    tiff_with,
    tissue,
)
from scripts.bad_inputs.metadata import ink_profile

MEGABYTE = 2**20


@pytest.mark.parametrize("name", list(hostile.FILES))
def test_no_decoder_runs_and_hardly_any_memory_is_used(name, monkeypatch):
    make, says = hostile.FILES[name]
    data = make()
    decoded = []
    monkeypatch.setattr(ImageFile.ImageFile, "load", lambda self: decoded.append(self))
    monkeypatch.setattr(WebPImagePlugin.WebPImageFile, "_open", lambda self: decoded.append(self))
    tracemalloc.start()
    with pytest.raises(InputError) as refusal:
        load(data)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert says in str(refusal.value)
    assert decoded == []
    assert peak < 20 * MEGABYTE


def png_of_bits(width, height, bits, colour_type):
    header = struct.pack(">IIBBBBB", width, height, bits, colour_type, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", b"") + chunk(b"IEND", b"")


def inks_claiming(width, height):
    data = bytearray(encoded("JPEG", tissue().convert("CMYK"), icc_profile=ink_profile()))
    start = data.index(b"\xff\xc0") + 5
    data[start : start + 4] = struct.pack(">HH", height, width)
    return bytes(data)


def tiff_of(width, height, values, **options):
    return tiff_with({256: width, 257: height, 278: 8}, tiff(np.zeros((8, 8, 3), values), **options))


TOO_SLOW = {
    "PNG of 16 bits": (png_of_bits(5001, 4000, 16, 2), png_of_bits(5000, 4000, 16, 2), "20 million are allowed"),
    "PNG with opacity": (png_of_bits(6001, 5000, 8, 6), png_of_bits(6000, 5000, 8, 6), "30 million are allowed"),
    "PNG of 16 bits with opacity": (png_of_bits(3001, 5000, 16, 6), png_of_bits(3000, 5000, 16, 6), "15 million"),
    "TIFF of 16 bits": (
        tiff_of(8000, 5000, np.uint16, photometric="rgb"), tiff_of(5000, 5000, np.uint16, photometric="rgb"),
        "26 million are allowed",
    ),
    "inks with a profile": (inks_claiming(4001, 4000), inks_claiming(4000, 4000), "16 million are allowed"),
    "Lab": (
        tiff_of(4001, 4000, np.uint8, photometric="cielab"), tiff_of(4000, 4000, np.uint8, photometric="cielab"),
        "16 million are allowed",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TOO_SLOW)
def test_what_takes_longer_a_pixel_may_have_fewer_and_is_refused_before_a_decoder_runs(name, monkeypatch):
    too_many, fitting, says = TOO_SLOW[name]

    def load_instead(self):
        raise OSError("decoded")

    monkeypatch.setattr(ImageFile.ImageFile, "load", load_instead)
    monkeypatch.setattr(TiffImagePlugin.TiffImageFile, "load", load_instead)
    with pytest.raises(InputError, match=says):
        load(too_many)
    with pytest.raises(InputError, match="incomplete or damaged"):
        load(fitting)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("name", ["bomb-15000.png", "packed-bomb.tif", "largest-claim-extended.webp"])
def test_the_whole_process_grows_by_less_than_20_megabytes(name, tmp_path):
    make, _ = hostile.FILES[name]
    cost = bench_refusals.measured(tmp_path / name, make())
    assert "pixels; at most" in cost["said"]
    assert cost["mb"] < 20


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_measure_sees_a_picture_that_is_decoded(tmp_path):
    cost = bench_refusals.measured(tmp_path / "sound.png", encoded("PNG", Image.new("RGB", (3000, 3000), "pink")))
    assert cost["said"] == "opened"
    assert cost["mb"] > 20


@pytest.mark.parametrize("format_", ["PNG", "JPEG", "TIFF", "BMP", "WEBP"])
def test_ordinary_pictures_are_not_taken_for_slow_ones(format_):
    assert why_slow({"WEBP": "WebP"}.get(format_, format_), encoded(format_)) is None


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("JPEG", jpeg_of_scans(400)),
        ("TIFF", tiff_of_strips(100_000)),
        ("TIFF", tiff_of_tags(4_096)),
        ("BMP", bmp_claiming(2_000, 2_000, compression=1)),
    ],
    ids=["scans", "strips", "tags", "run lengths"],
)
def test_what_is_just_within_the_limits_passes(kind, data):
    assert why_slow(kind, data) is None


@pytest.mark.parametrize(
    "data", [b"", b"II*\0", b"II*\0\xff\xff\xff\xff", b"MM\0+" + b"\xff" * 20, b"II*\0\x08\0\0\0\xff\xff"]
)
def test_the_walk_over_pages_ends_where_the_file_ends(data):
    assert list(directories(data)) == []


def test_pages_in_a_circle_are_counted_once():
    page = b"\0\0" + b"\x08\0\0\0"
    assert len(list(directories(b"II*\0\x08\0\0\0" + page))) == 1


def test_a_file_on_disk_that_is_too_large_is_not_read(tmp_path):
    path = tmp_path / "huge.png"
    with path.open("wb") as file:
        file.truncate(10 * 2**30)  # takes no room on the disk
    tracemalloc.start()
    with pytest.raises(InputError, match=r"10,240\.0 MB, more than the 50 MB allowed"):
        load(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < MEGABYTE
