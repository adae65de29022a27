"""Sharded bags of pictures: those of `bags_from_tiles`, made once, and what a rerun does."""

import os

import numpy as np
import pytest

from bag_generators import InputError
from bag_generators.base import shards
from elimipl.candidates.crowd import Candidates
from elimipl.datasets import tile_shards
from elimipl.datasets.dataset import BagDataset
from elimipl.datasets.tile_shards import shards_from_tiles
from elimipl.datasets.tiles import bags_from_tiles
from tests.elimipl.datasets.test_tiles import write_picture


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(tile_shards, "PICTURES_A_PART", 2)


@pytest.fixture
def folder(tmp_path):
    names = ("TUM/b.png", "TUM/a.PNG", "DEB/deep/c.jpg", "STR/d.tif", "STR/e.png", "STR/f.png")
    for seed, name in enumerate(names):
        write_picture(tmp_path / "tiles" / name, min(seed, 4))  # the last two are equal
    (tmp_path / "tiles" / "TUM" / "broken.png").write_bytes(b"no picture")
    return tmp_path / "tiles"


@pytest.fixture
def out(tmp_path):
    return tmp_path / "bags.shards"


def made(out):
    return {path.name: path.stat().st_mtime_ns for path in shards.part_paths(out)}


@pytest.mark.parametrize("workers", [1, 2])
def test_the_bags_are_those_of_one_file(folder, out, workers):
    whole = bags_from_tiles(folder, "sbn", source="here", licence="CC0", stain="macenko")
    seen = []
    sharded = shards_from_tiles(
        folder, out, "sbn", workers=workers, source="here", licence="CC0", stain="macenko",
        progress=lambda *counts: seen.append(counts),
    )  # fmt: skip
    for dataset in (sharded.dataset, BagDataset.load(out)):
        assert dataset.on_disk
        for name in ("instances", "offsets", "candidates", "labels", "groups"):
            np.testing.assert_array_equal(getattr(dataset, name), getattr(whole.dataset, name))
        for name in ("label_space", "generator", "params", "names", "source", "licence"):
            assert getattr(dataset, name) == getattr(whole.dataset, name)
    assert [(name, str(error)) for name, error in sharded.refused] == [("TUM/broken.png", str(whole.refused[0][1]))]
    assert seen == [(2, 7), (4, 7), (6, 7), (7, 7)]
    assert (shards.read(out).failed, shards.read(out).reasons) == (("TUM/broken.png",), (str(whole.refused[0][1]),))


def test_candidate_sets_are_those_of_one_file(folder, out):
    wanted = Candidates("random", r=2, seed=3)
    sharded = shards_from_tiles(folder, out, "row", candidates=wanted)
    expected = wanted.given_to(bags_from_tiles(folder, "row").dataset).candidates
    np.testing.assert_array_equal(BagDataset.load(out).candidates, expected)
    other = shards_from_tiles(folder, out, "row", candidates=Candidates("random", r=1, seed=3))
    assert other.looked_at == 1  # the broken picture; new sets need no new bags
    assert other.dataset.candidates.sum() < sharded.dataset.candidates.sum()


def test_a_rerun_makes_only_what_is_missing_new_or_changed(folder, out):
    shards_from_tiles(folder, out, "row")
    before = made(out)
    (folder / "TUM" / "broken.png").unlink()
    assert shards_from_tiles(folder, out, "row").looked_at == 0
    assert made(out) == before
    write_picture(folder / "DEB" / "new.png", 9)
    write_picture(folder / "TUM" / "b.png", 10)
    os.utime(folder / "TUM" / "b.png", ns=(1, 1))
    (folder / "STR" / "d.tif").unlink()
    again = shards_from_tiles(folder, out, "row")
    assert again.looked_at == 2
    assert_same_as_anew(again.dataset, folder)
    assert_same_as_anew(BagDataset.load(out), folder)


def assert_same_as_anew(dataset, folder):
    anew = bags_from_tiles(folder, "row").dataset
    assert dataset.names == anew.names
    np.testing.assert_array_equal(dataset.instances, anew.instances)
    np.testing.assert_array_equal(dataset.groups, anew.groups)


def test_what_was_stopped_goes_on_where_it_was(folder, out):
    def stop(done, _total):
        if done == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        shards_from_tiles(folder, out, "row", progress=stop)
    with pytest.raises(InputError, match="unfinished"):
        BagDataset.load(out)
    kept = made(out)
    assert len(kept) == 2
    assert shards_from_tiles(folder, out, "row").looked_at == 3
    assert kept.items() <= made(out).items()
    assert_same_as_anew(BagDataset.load(out), folder)


def test_a_damaged_part_is_made_again_and_left_overs_go(folder, out):
    whole = shards_from_tiles(folder, out, "row").dataset
    first = next(iter(shards.part_paths(out)))
    first.write_bytes(first.read_bytes()[:-7])
    (out / "parts" / ".half.tmp").touch()
    again = shards_from_tiles(folder, out, "row")
    assert again.looked_at == 3
    np.testing.assert_array_equal(again.dataset.instances, whole.instances)
    assert not (out / "parts" / ".half.tmp").exists()


def test_bags_made_in_another_way_are_refused(folder, out):
    shards_from_tiles(folder, out, "row")
    for generator, params in (("sbn", {}), ("row", {"stain": "reinhard"})):
        with pytest.raises(InputError, match=r"“bags\.shards” holds bags of another generator, other parameters"):
            shards_from_tiles(folder, out, generator, **params)


def test_when_nothing_can_be_used_the_first_reason_is_given(tmp_path, out):
    for name in ("DEB", "TUM"):
        (tmp_path / "bad" / name).mkdir(parents=True)
        (tmp_path / "bad" / name / "x.png").write_bytes(b"no picture")
    with pytest.raises(InputError, match=r"None of the 2 pictures.*x\.png"):
        shards_from_tiles(tmp_path / "bad", out, "row")


def test_wrong_generators_and_places_are_refused_before_any_work(folder, tmp_path):
    with pytest.raises(InputError, match="no generator"):
        shards_from_tiles(folder, tmp_path / "x.shards", "none")
    with pytest.raises(InputError, match="no name for a folder"):
        shards_from_tiles(folder, tmp_path / "x", "row")
    assert not (tmp_path / "x.shards").exists()
