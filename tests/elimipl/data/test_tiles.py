"""Bags from folders of class folders: order, labels, groups, and pictures that can't be used."""

import shutil

import numpy as np
import pytest
from PIL import Image

from bag_generators import InputError, generate, load
from elimipl.data.tiles import bags_from_tiles, find_tiles
from elimipl.labels import LESION5, TISSUE7, LabelSpace


def write_picture(path, seed):
    path.parent.mkdir(parents=True, exist_ok=True)
    pixels = np.random.default_rng(seed).integers(0, 255, (8, 8, 3), dtype=np.uint8)
    Image.fromarray(pixels).resize((64, 64), Image.Resampling.BICUBIC).save(path)


@pytest.fixture
def folder(tmp_path):
    for seed, name in enumerate(("TUM/b.png", "TUM/a.PNG", "DEB/deep/c.jpg", "STR/d.tif")):
        write_picture(tmp_path / "tiles" / name, seed)
    (tmp_path / "tiles" / "STR" / "notes.txt").write_text("not a picture")
    (tmp_path / "tiles" / "STR" / "._d.tif").write_text("left over by a Mac")
    (tmp_path / "tiles" / ".cache").mkdir()
    return tmp_path / "tiles"


def test_every_picture_becomes_its_own_bag(folder):
    made = bags_from_tiles(folder, "row", workers=1, source="here", licence="CC0", stain="none")
    assert made.refused == ()
    assert made.dataset.names == ("DEB/deep/c.jpg", "STR/d.tif", "TUM/a.PNG", "TUM/b.png")
    assert made.dataset.label_space is TISSUE7
    np.testing.assert_array_equal(made.dataset.labels, [TISSUE7.index(name) for name in ("DEB", "STR", "TUM", "TUM")])
    np.testing.assert_array_equal(made.dataset.candidates.sum(axis=1), 1)
    for i, name in enumerate(made.dataset.names):
        bag = generate("row", load(folder / name))
        np.testing.assert_array_equal(made.dataset.bag(i), bag.features)
        assert made.dataset.params == dict(bag.params)
    assert (made.dataset.generator, made.dataset.source, made.dataset.licence) == ("row", "here", "CC0")


def test_broken_pictures_are_reported_and_the_rest_is_kept(folder):
    (folder / "TUM" / "a.PNG").write_bytes(b"no picture")
    seen = []
    made = bags_from_tiles(folder, "sbn", progress=lambda done, total: seen.append((done, total)))
    assert len(made.dataset) == 3
    ((path, error),) = made.refused
    assert path == folder / "TUM" / "a.PNG"
    assert isinstance(error, InputError)
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_when_nothing_can_be_used_the_first_reason_is_given(tmp_path):
    for name in ("DEB", "TUM"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.png").write_bytes(b"no picture")
    with pytest.raises(InputError, match=r"None of the 2 pictures.*x\.png"):
        bags_from_tiles(tmp_path, "row")


def test_copies_of_a_picture_share_a_group(folder):
    shutil.copy(folder / "TUM" / "b.png", folder / "TUM" / "z.png")
    made = bags_from_tiles(folder, "row").dataset
    groups = dict(zip(made.names, made.groups.tolist(), strict=True))
    assert groups["TUM/b.png"] == groups["TUM/z.png"]
    assert len(set(groups.values())) == 4


def test_unknown_folders_make_their_own_label_space_and_a_given_one_rules(tmp_path, folder):
    for name in ("cat", "bird", "cow"):
        write_picture(tmp_path / "farm" / name / "1.png", seed=1)
    _, labels, space = find_tiles(tmp_path / "farm")
    assert space.names == ("bird", "cat", "cow")
    assert labels == [0, 1, 2]
    space = LabelSpace.of(["TUM", "STR", "DEB", "other"])
    made = bags_from_tiles(folder, "row", label_space=space)
    np.testing.assert_array_equal(made.dataset.labels, [2, 1, 0, 0])
    with pytest.raises(InputError, match="“DEB” is not a class of “lesion5”"):
        bags_from_tiles(folder, "row", label_space=LESION5)


def test_folders_without_pictures_are_answered(tmp_path):
    with pytest.raises(InputError, match="There is no folder"):
        find_tiles(tmp_path / "none")
    with pytest.raises(InputError, match=r"0 class folder\(s\)"):
        find_tiles(tmp_path)
    (tmp_path / "DEB").mkdir()
    with pytest.raises(InputError, match="no pictures in the class folders"):
        find_tiles(tmp_path)


def test_wrong_generators_and_parameters_are_sentences(folder):
    with pytest.raises(InputError, match="deeper"):
        bags_from_tiles(folder, "deeper")
    with pytest.raises(InputError, match="colour"):
        bags_from_tiles(folder, "row", colour="red")


def test_real_tiles_on_all_cores(shared_data):
    made = bags_from_tiles(shared_data / "tissue7" / "train", "row", workers=2)
    assert made.refused == ()
    assert (len(made.dataset), made.dataset.dim) == (128, 9)
    assert made.dataset.label_space is TISSUE7
    assert set(made.dataset.sizes) == {8}
