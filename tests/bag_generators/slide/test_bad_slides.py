"""Slides that are broken, false or gone: one sentence, and the next slide is read as ever."""

import os
import struct
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from PIL import Image

from bag_generators import InputError
from bag_generators.base.pool import Standbys, limited
from bag_generators.slide import list_slides, open_slide, reader, slide_folder, slide_path

WIDTH, HEIGHT, TILE_WIDTH = 256, 257, 322


def with_tag(data: bytes, tag: int, value: int) -> bytes:
    """A little-endian BigTIFF whose first page says another number."""
    changed = bytearray(data)
    (start,) = struct.unpack_from("<Q", data, 8)
    (entries,) = struct.unpack_from("<Q", data, start)
    for at in range(start + 8, start + 8 + 20 * entries, 20):
        if struct.unpack_from("<H", data, at)[0] == tag:
            struct.pack_into("<HHQQ", changed, at, tag, 4, 1, value)
    return bytes(changed)


def flipped(data: bytes, bits: int) -> bytes:
    rng = np.random.default_rng(bits)
    changed = bytearray(data)
    for at in rng.integers(0, len(data), bits):
        changed[at] ^= 1 << int(rng.integers(8))
    return bytes(changed)


BROKEN = {
    "empty": lambda data: b"",
    "first-bytes": lambda data: data[:100],
    "half": lambda data: data[: len(data) // 2],
    "flipped": lambda data: flipped(data, 3000),
    "no-pages": lambda data: data[:8] + bytes(8) + data[16:],
    "no-width": lambda data: with_tag(data, WIDTH, 0),
    "too-wide": lambda data: with_tag(data, WIDTH, 2**31 - 1),
    "too-high": lambda data: with_tag(data, HEIGHT, 90_000),
    "huge-pieces": lambda data: with_tag(data, TILE_WIDTH, 2**30),
    "text": lambda data: b"a slide, they say " * 50,
    "zeros": lambda data: bytes(5000),
}


def read_all(path) -> None:
    slide = open_slide(path)
    slide.thumbnail(200)
    grid = slide.tissue(224, 0.5)
    for row, column in np.ndindex(grid.is_tissue.shape):
        slide.region(*grid.corner(row, column), 224, 0.5)


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_slide_gives_a_sentence(kind, slide_file, tmp_path):
    path = tmp_path / f"{kind}.svs"
    path.write_bytes(BROKEN[kind](slide_file.read_bytes()))
    with pytest.raises(InputError) as refusal:
        read_all(path)
    assert ("levels have different shapes" in str(refusal.value)) == (kind == "too-high")
    assert refusal.value.what.endswith(".")
    assert refusal.value.fix.endswith(".")
    assert str(tmp_path) not in str(refusal.value)
    assert list(tmp_path.iterdir()) == [path]
    assert open_slide(slide_file).region(0, 0, 10, 0.5).shape == (10, 10, 3)


def test_ten_at_once_do_not_disturb_each_other(slide_file, tmp_path):
    data = slide_file.read_bytes()
    paths = []
    for number, kind in enumerate(["half", "sound", "huge-pieces", "sound", "flipped"] * 2):
        paths.append(tmp_path / f"{number}-{kind}.tif")
        paths[-1].write_bytes(BROKEN.get(kind, lambda content: content)(data))

    def outcome(path) -> str:
        try:
            read_all(path)
        except InputError as refusal:
            return str(refusal)
        return "read"

    with ThreadPoolExecutor(10) as threads:
        outcomes = dict(zip(paths, threads.map(outcome, paths), strict=True))
    assert {path.name for path, said in outcomes.items() if said == "read"} == {
        path.name for path in paths if "sound" in path.name
    }


def test_a_slide_that_vanishes_or_changes_while_it_is_open(slide_file, tmp_path):
    path = tmp_path / "here.tif"
    path.write_bytes(slide_file.read_bytes())
    slide = open_slide(path)
    assert slide.region(0, 0, 10, 0.5).shape == (10, 10, 3)
    path.write_bytes(slide_file.read_bytes() + b"\0")
    with pytest.raises(InputError, match="has changed since it was opened"):
        slide.region(0, 0, 10, 0.5)
    path.unlink()
    with pytest.raises(InputError, match="is not there"):
        slide.thumbnail(100)
    with pytest.raises(InputError, match="is not there"):
        open_slide(path)


def test_what_is_no_file_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe.svs")
    for path in (tmp_path, tmp_path / "pipe.svs", tmp_path / "nul\0.svs"):
        with pytest.raises(InputError):
            open_slide(path)


@pytest.mark.parametrize(("microns", "said"), [(0.1, "unusual"), (10, "unusual"), (353, "does not say"), (0.5, "")])
def test_an_odd_scale_is_said(microns, said, tmp_path, phantom_slide):
    type(phantom_slide)(phantom_slide.layout[:2], microns).write(tmp_path / "odd.tif")
    slide = open_slide(tmp_path / "odd.tif")
    assert (said in " ".join(slide.notes)) if said else slide.notes == ()
    for impossible in (0, -1, float("nan"), 1e9):
        with pytest.raises(InputError, match="µm large"):
            slide.with_scale(impossible)


def test_reading_has_a_limit_of_time(slide_file, monkeypatch):
    monkeypatch.setattr("bag_generators.slide.slide._readers", Standbys(sleepy, 1, 60, 60))
    with pytest.raises(InputError, match="takes too long"):
        open_slide(slide_file)


def sleepy(question: reader.SlideTask) -> None:
    import time

    with limited(0.2, 2**30):
        time.sleep(60)


def test_without_openslide_pictures_are_still_read(slide_file, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "openslide", None)
    (tmp_path / "slide.svs").write_bytes(slide_file.read_bytes())
    with pytest.raises(InputError, match="OpenSlide is not installed"):
        open_slide(tmp_path / "slide.svs", in_this_process=True)
    Image.fromarray(np.zeros((50, 60, 3), np.uint8)).save(tmp_path / "picture.png")
    assert open_slide(tmp_path / "picture.png", in_this_process=True).width == 60


class TestFolder:
    """The folder of slides is the only place that names lead to."""

    def test_names_are_listed_and_nothing_else_is_found(self, tmp_path, monkeypatch):
        folder = tmp_path / "slides"
        (folder / "inner").mkdir(parents=True)
        for name in ("b.svs", "A.NDPI", "c.tif", "notes.txt", ".hidden.svs", "inner/d.svs", "bad\nname.svs"):
            (folder / name).write_bytes(b"x")
        (tmp_path / "secret.svs").write_bytes(b"x")
        monkeypatch.setenv("ELIMIPL_SLIDES", str(folder))
        assert slide_folder() == folder
        assert list_slides() == ("A.NDPI", "b.svs", "c.tif")
        assert slide_path("b.svs") == folder / "b.svs"
        for name in ("../secret.svs", str(tmp_path / "secret.svs"), "inner/d.svs", "", "notes.txt", "B.svs"):
            with pytest.raises(InputError, match="There is no slide"):
                slide_path(name)

    def test_links_are_not_followed_and_hide_nothing(self, tmp_path):
        folder = tmp_path / "slides"
        folder.mkdir()
        (folder / "a.svs").write_bytes(b"x")
        (tmp_path / "secret.svs").write_bytes(b"x")
        (folder / "itself.svs").symlink_to("itself.svs")
        (folder / "out.svs").symlink_to(tmp_path / "secret.svs")
        (folder / "above").symlink_to(tmp_path)
        (folder / "glass.mrxs").write_bytes(b"x")
        (folder / "glass").symlink_to(tmp_path)
        assert list_slides(folder) == ("a.svs",)
        with pytest.raises(InputError, match="There is no slide"):
            slide_path("out.svs", folder)

    def test_without_a_folder_there_are_no_slides(self, tmp_path, monkeypatch):
        monkeypatch.delenv("ELIMIPL_SLIDES", raising=False)
        assert slide_folder() is None
        assert list_slides() == ()
        monkeypatch.setenv("ELIMIPL_SLIDES", str(tmp_path / "gone"))
        with pytest.raises(InputError, match="is not there"):
            list_slides()
