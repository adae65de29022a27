"""Slides of several files, written by hand: read alike, listed once, their labels unseen."""

import shutil
from contextlib import suppress

import numpy as np
import pytest

from bag_generators import InputError
from bag_generators.slide import list_slides, open_slide, slide_path
from bag_generators.slide.folder import files_of
from tests.bag_generators.slide import makers
from tests.bag_generators.slide.makers.dicom import write_dicom
from tests.bag_generators.slide.makers.mirax import write_mirax

openslide = pytest.importorskip("openslide")

NAMES = ("mirax.mrxs", "series")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder of slides with one of each; never written to."""
    place = tmp_path_factory.mktemp("scanners")
    write_mirax(place / "mirax.mrxs")
    write_dicom(place / "series")
    (place / "notes").mkdir()
    (place / "notes" / "1.txt").write_text("no slide")
    return place


@pytest.mark.parametrize("name", NAMES)
def test_pixels_scale_and_levels_are_those_of_the_scan(folder, name):
    slide = open_slide(slide_path(name, folder))
    assert (slide.name, slide.width, slide.height) == (name, makers.WIDTH, makers.HEIGHT)
    assert slide.microns_per_pixel == pytest.approx(makers.MICRONS)
    assert slide.facts.levels[1][2] == pytest.approx(2)
    whole = slide.pixels(0, 0, makers.WIDTH, makers.HEIGHT, (makers.WIDTH, makers.HEIGHT))
    assert np.abs(whole.astype(int) - makers.pixels()).max() <= 4
    half = slide.thumbnail(makers.WIDTH // 2)
    assert np.abs(half.astype(int) - makers.pixels()[::2, ::2]).max() <= 6


@pytest.mark.parametrize("name", NAMES)
def test_labels_and_names_are_in_the_file_and_nowhere_else(folder, name):
    slide = open_slide(slide_path(name, folder))
    theirs = openslide.OpenSlide(slide.path)
    said = " ".join(theirs.properties.values())
    assert makers.SECRETS[0] in said
    assert "macro" in theirs.associated_images
    assert not any(secret in repr(slide) + str(slide.notes) for secret in makers.SECRETS)
    for picture in (slide.thumbnail(200), slide.thumbnail(5000)):
        assert np.abs(picture.astype(int) - makers.LABEL_COLOUR).max(axis=2).min() > 40


def test_a_mirax_file_without_its_folder_is_no_picture(folder, tmp_path):
    """It is a JPEG, of the glass with its label."""
    shutil.copy(folder / "mirax.mrxs", tmp_path / "alone.mrxs")
    with pytest.raises(InputError, match="the folder “alone” is missing or incomplete"):
        open_slide(tmp_path / "alone.mrxs")


@pytest.mark.parametrize("missing", ["Slidedat.ini", "Index.dat", "Data0000.dat"])
def test_a_mirax_folder_that_lacks_a_file_gets_a_sentence(tmp_path, missing):
    path = write_mirax(tmp_path / "cut.mrxs")
    (path.with_suffix("") / missing).unlink()
    with pytest.raises(InputError, match=r"“cut\.mrxs” is (not whole|incomplete or damaged|damaged)"):
        open_slide(path).thumbnail(100)


def test_a_dicom_label_alone_is_refused_and_a_level_alone_is_a_slide(folder, tmp_path):
    for name in ("0.dcm", "4.dcm"):
        (tmp_path / name[0]).mkdir()
        shutil.copy(folder / "series" / name, tmp_path / name[0] / name)
    with pytest.raises(InputError):
        open_slide(tmp_path / "0" / "0.dcm")
    assert open_slide(tmp_path / "4" / "4.dcm").width == makers.WIDTH


def test_dicom_files_among_others_are_one_slide(folder, tmp_path):
    for file in (folder / "series").iterdir():
        shutil.copy(file, tmp_path / file.name)
    (tmp_path / "broken.dcm").write_bytes(bytes(300))
    assert list_slides(tmp_path) == ("0.dcm", "broken.dcm")
    assert open_slide(slide_path("0.dcm", tmp_path)).width == makers.WIDTH


def test_each_is_listed_once_and_all_its_files_belong_to_it(folder):
    assert list_slides(folder) == NAMES
    with pytest.raises(InputError, match="no file"):
        open_slide(folder / "notes")
    assert files_of(folder / "notes" / "1.txt") == (folder / "notes" / "1.txt",)
    assert [file.name for file in files_of(folder / "mirax.mrxs")] == [
        "mirax.mrxs",
        "Data0000.dat",
        "Index.dat",
        "Slidedat.ini",
    ]
    assert [file.name for file in files_of(folder / "series" / "3.dcm")] == [f"{i}.dcm" for i in range(5)]


@pytest.mark.parametrize("name", NAMES)
def test_flipped_bytes_of_any_of_its_files_give_pixels_or_a_sentence(folder, tmp_path, name):
    whole = folder / name
    files = list(whole.iterdir()) if whole.is_dir() else files_of(whole)
    for seed in range(6):
        place = tmp_path / str(seed)
        shutil.copytree(folder, place)
        rng = np.random.default_rng(seed)
        for file in files:
            changed = bytearray(file.read_bytes())
            for at in rng.integers(0, len(changed), 8 + len(changed) // 500):
                changed[at] ^= 1 << int(rng.integers(8))
            (place / file.relative_to(folder)).write_bytes(changed)
        with suppress(InputError):
            assert open_slide(place / name).thumbnail(64).shape[2] == 3
