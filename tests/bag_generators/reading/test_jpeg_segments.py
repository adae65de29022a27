"""The walk over a JPEG ends where the picture ends, not where the file does."""

import numpy as np
import pytest
from PIL import Image

from bag_generators.errors import InputError
from bag_generators.image import load
from bag_generators.reading import jpeg_segments, slow_files
from bag_generators.reading.jpeg_segments import MOST_JPEG_SEGMENTS, camera_data, outline, without_camera_data
from scripts.bad_inputs.encodings import encoded, jpeg_of_scans, jpeg_with, tissue
from scripts.bad_inputs.metadata import exif_bomb, exif_in_jpeg, motion_photo


def test_a_film_behind_a_picture_is_no_part_of_it():
    image = load(motion_photo())
    assert np.array_equal(image.pixels, load(encoded("JPEG")).pixels)
    assert image.notes == ()
    assert outline(motion_photo(), count_scans=True).scans == 1


def test_scans_are_counted_up_to_the_end_of_the_picture():
    whole = outline(encoded("JPEG", tissue().convert("L"), progressive=True), count_scans=True).scans
    assert whole > 1
    assert outline(jpeg_of_scans(40), count_scans=True).scans == whole + 39
    assert outline(encoded("JPEG", restart_marker_rows=1), count_scans=True).scans == 1


def test_the_pixels_of_a_picture_are_walked_over_once(monkeypatch):
    """That takes 40 ms of a file as large as may be, and five parts of the reader ask for the header."""
    walks, walk = [], jpeg_segments._with_scans
    monkeypatch.setattr(jpeg_segments, "_with_scans", lambda *args: walks.append(args) or walk(*args))
    load(exif_in_jpeg(exif_bomb(1)))
    assert len(walks) == 1


def test_a_thumbnail_is_no_end():
    thumbnail = encoded("JPEG", tissue().resize((32, 32)))
    segment = b"\xff\xe1" + (len(thumbnail) + 2).to_bytes(2, "big") + thumbnail
    found = outline(jpeg_with(segment, 1), count_scans=True)
    assert found.scans == 1
    assert found.frame(jpeg_with(segment, 1)).width == 224


@pytest.mark.parametrize(("subsampling", "expected"), [(0, (1, 1)), (2, (2, 2))])
@pytest.mark.parametrize("progressive", [False, True])
def test_the_frame_header(subsampling, expected, progressive):
    data = encoded("JPEG", Image.new("RGB", (300, 200)), subsampling=subsampling, progressive=progressive)
    frame = outline(data).frame(data)
    assert (frame.width, frame.height, frame.progressive) == (300, 200, progressive)
    assert frame.sampling == (expected, (1, 1), (1, 1))


@pytest.mark.parametrize(
    "data", [b"", b"\xff\xd8\xff", b"\xff\xd8\xff\xc0\0\x03", b"\xff\xd8\xff\xc0\0\x0a\x08\0\1\0\1\xff"]
)
def test_headers_that_break_off_have_no_frame(data):
    assert outline(data).frame(data) is None


def test_markers_without_end_between_pixels_are_given_up():
    data = encoded("JPEG")[:-2] + b"\xff\x01" * (MOST_JPEG_SEGMENTS + 1) + b"\xff\xd9"
    assert not outline(data, count_scans=True).complete
    with pytest.raises(InputError, match="segments"):
        load(data)


def test_only_camera_data_are_left_out():
    plain = encoded("JPEG")
    data = exif_in_jpeg(exif_bomb(1), jfif=True)
    assert without_camera_data(data, outline(data)) == plain
    assert camera_data(data, outline(data)).startswith(b"Exif\0\0II")
    assert without_camera_data(plain, outline(plain)) is plain
    assert camera_data(plain, outline(plain)) is None


@pytest.mark.parametrize("limit", ["MOST_SCANNED_PIXELS", "MOST_COEFFICIENT_BYTES"])
def test_several_scans_of_many_pixels_are_refused(monkeypatch, limit):
    progressive = encoded("JPEG", progressive=True)
    load(progressive)
    monkeypatch.setattr(slow_files, limit, 224 * 224)
    with pytest.raises(InputError, match=r"made of too many parts: .*scans"):
        load(progressive)
    load(encoded("JPEG"))
