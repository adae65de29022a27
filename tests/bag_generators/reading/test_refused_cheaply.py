"""A bomb is refused from its header: no decoder runs and hardly any memory is used.

How long it takes is measured by `benchmarks/bench_refusals.py`.
"""

import sys
import tracemalloc

import pytest
from PIL import Image, ImageFile, WebPImagePlugin

from bag_generators import InputError, load
from bag_generators.reading.slow_files import why_slow
from bag_generators.reading.tiff_pages import directories
from benchmarks import bench_refusals
from scripts.bad_inputs import hostile
from scripts.bad_inputs.encodings import bmp_claiming, encoded, jpeg_of_scans, tiff_of_strips, tiff_of_tags

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
