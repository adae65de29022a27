"""The picture type, its tiles, and reading from paths."""

import hashlib
import io
import os
import pickle
import threading
import tracemalloc

import numpy as np
import pytest
from PIL import Image, ImageFile

from bag_generators.base.errors import InputError
from bag_generators.base.formats import MAX_BYTES
from bag_generators.image import TissueImage, load, tiles


@pytest.fixture
def pixels():
    return np.random.default_rng(0).integers(0, 256, (48, 80, 3), dtype=np.uint8)


@pytest.fixture
def png(pixels):
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG")
    return file.getvalue()


def test_pixels_are_contiguous_and_locked_and_the_hash_is_of_the_bytes(png):
    image = load(png)
    assert image.sha256 == hashlib.sha256(png).hexdigest()
    assert image.pixels.dtype == np.uint8
    assert image.pixels.flags.c_contiguous
    copy = pickle.loads(pickle.dumps(image))  # noqa: S301
    assert (copy.sha256, copy.notes) == (image.sha256, image.notes)
    for each in (image, copy):
        with pytest.raises(ValueError, match="read-only"):
            each.pixels[0, 0] = 1


def test_path_string_and_bytes_give_the_same(png, tmp_path):
    path = tmp_path / "a name with ünïcode.of.dots"
    path.write_bytes(png)
    hashes = {load(source).sha256 for source in (path, str(path), png, bytearray(png), memoryview(png))}
    assert hashes == {hashlib.sha256(png).hexdigest()}


def test_arrays_are_copied_checked_and_hashed_by_content(pixels):
    image = TissueImage.from_array(pixels)
    pixels[0, 0] ^= 255
    assert image.sha256 != TissueImage.from_array(pixels).sha256
    assert TissueImage.from_array(pixels).sha256 == TissueImage.from_array(pixels[:, ::-1][:, ::-1]).sha256
    assert TissueImage.from_array(pixels).sha256 != TissueImage.from_array(pixels.reshape(80, 48, 3)).sha256
    assert pixels.flags.writeable


@pytest.mark.parametrize(
    "wrong",
    [
        np.zeros((4, 4, 4), np.uint8),
        np.zeros((4, 4), np.uint8),
        np.zeros((4, 4, 3)),
        np.zeros((0, 4, 3), np.uint8),
    ],
)
def test_arrays_that_are_no_pictures_are_refused(wrong):
    with pytest.raises(InputError, match=r"type uint8\."):
        TissueImage.from_array(wrong)


def test_a_tile_is_the_part_of_the_picture(pixels):
    image = TissueImage.from_array(pixels, notes=("A note.",))
    tile = image.tile(x=30, y=7, size=16)
    assert np.array_equal(tile.pixels, pixels[7:23, 30:46])
    assert tile.notes == ("A note.",)
    assert tile.sha256 == TissueImage.from_array(pixels[7:23, 30:46]).sha256 != image.sha256
    assert tile.pixels.flags.c_contiguous
    assert not tile.pixels.flags.writeable


@pytest.mark.parametrize(("x", "y", "size"), [(-1, 0, 8), (0, -1, 8), (73, 0, 8), (0, 41, 8), (0, 0, 49), (0, 0, 0)])
def test_a_tile_outside_the_picture_is_refused_with_the_numbers(pixels, x, y, size):
    with pytest.raises(InputError, match=rf"{size} px at \({x}, {y}\).*80 × 48 px"):
        TissueImage.from_array(pixels).tile(x, y, size)


def test_tiles_walk_left_to_right_then_down_and_only_whole_ones(pixels):
    image = TissueImage.from_array(pixels)
    walked = list(tiles(image, 20))
    assert [(x, y) for x, y, _ in walked] == [(x, y) for y in (0, 20) for x in (0, 20, 40, 60)]
    assert all(np.array_equal(tile.pixels, pixels[y : y + 20, x : x + 20]) for x, y, tile in walked)
    assert [(x, y) for x, y, _ in tiles(image, 40, stride=30)] == [(0, 0), (30, 0)]
    assert list(tiles(image, 49)) == []


@pytest.mark.parametrize(("size", "stride"), [(0, None), (8, 0), (8, -4)])
def test_tiles_refuse_a_walk_that_would_never_end(pixels, size, stride):
    with pytest.raises(InputError, match="at least 1 px"):
        list(tiles(TissueImage.from_array(pixels), size, stride))


def test_what_is_no_file_is_named_without_its_folders_and_never_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.png")
    for path, said in ((tmp_path, "is a folder"), (tmp_path / "pipe.png", "is not a file")):
        with pytest.raises(InputError, match=said):
            load(path)
    with pytest.raises(InputError, match=r"^There is no file “gone.png”\. Check the path\.$"):
        load(tmp_path / "gone.png")


def test_a_file_without_permission_is_refused(tmp_path, png, monkeypatch):
    (tmp_path / "closed.png").write_bytes(png)

    def refuse(*_):
        raise PermissionError

    monkeypatch.setattr(os, "open", refuse)  # root may read everything, so a mode of 000 would not do
    with pytest.raises(InputError, match="may not be read"):
        load(tmp_path / "closed.png")


@pytest.mark.parametrize("name", ["nul\0.png", "x" * 300 + ".png", "\u202egnp.exe", "<script>.png", "../\n/.png", ""])
def test_hostile_names_become_one_short_printable_sentence(name):
    with pytest.raises(InputError) as refusal:
        load(name)
    assert str(refusal.value).isprintable()
    assert len(str(refusal.value)) < 150


def test_one_byte_over_the_cap_quotes_it_from_bytes_and_from_a_path(tmp_path, png):
    at_the_cap = png.ljust(MAX_BYTES, b"\0")
    assert load(at_the_cap).width == 80
    path = tmp_path / "big.png"
    path.write_bytes(at_the_cap + b"\0")
    for source in (path, at_the_cap + b"\0"):
        with pytest.raises(InputError, match="more than the 50 MB allowed"):
            load(source)


def test_a_huge_file_is_refused_without_being_read(tmp_path):
    path = tmp_path / "slide.svs"
    with path.open("wb") as file:
        file.write(b"II*\0")
        file.truncate(2**40)
    tracemalloc.start()
    with pytest.raises(InputError, match=r"1,048,576\.0 MB.*whole-slide.*QuPath: File → Export images"):
        load(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2**20


def test_pillow_is_left_as_it_was(png):
    before = (Image.MAX_IMAGE_PIXELS, ImageFile.LOAD_TRUNCATED_IMAGES)
    load(png)
    with pytest.raises(InputError):
        load(png[:-20])
    assert before == (Image.MAX_IMAGE_PIXELS, ImageFile.LOAD_TRUNCATED_IMAGES)


def test_many_threads_load_good_and_broken_pictures_at_once(png, pixels):
    outcomes: list[bool] = []

    def visit():
        for _ in range(20):
            good = np.array_equal(load(png).pixels, pixels)
            try:
                load(png[:200])
            except InputError as refusal:
                outcomes.append(good and "incomplete or damaged" in str(refusal))

    visitors = [threading.Thread(target=visit) for _ in range(8)]
    for visitor in visitors:
        visitor.start()
    for visitor in visitors:
        visitor.join()
    assert outcomes == [True] * 160


@pytest.mark.parametrize("size", [(1, 1), (3, 700), (1100, 1000)], ids=str)
@pytest.mark.parametrize(
    ("format_", "options"),
    [
        ("PNG", {}),
        ("JPEG", {"quality": 80}),
        ("JPEG", {"quality": 80, "progressive": True, "subsampling": 0}),
        ("TIFF", {}),
        ("TIFF", {"compression": "tiff_lzw"}),
        ("TIFF", {"compression": "jpeg"}),
        ("BMP", {}),
        ("WEBP", {"quality": 80}),
        ("WEBP", {"lossless": True}),
    ],
    ids=str,
)
def test_ordinary_pictures_keep_every_pixel_in_all_bands(format_, options, size):
    drawn = np.random.default_rng(4).integers(0, 256, (9, 9, 3), dtype=np.uint8)
    file = io.BytesIO()
    Image.fromarray(drawn).resize(size, Image.Resampling.BICUBIC).save(file, format_, **options)
    image = load(file.getvalue())
    assert np.array_equal(image.pixels, np.asarray(Image.open(file).convert("RGB")))
    assert (image.width, image.height, image.notes) == (*size, ())
