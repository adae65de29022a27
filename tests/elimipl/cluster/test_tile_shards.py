"""Bags made on a cluster are those of one process, bit for bit, whatever happens to the workers."""

import shutil
from contextlib import nullcontext
from dataclasses import replace

import pytest

from bag_generators.base import shards
from elimipl.cluster.engine import LostTaskError, on_cluster
from elimipl.datasets import tile_shards
from elimipl.datasets.tile_shards import shards_from_tiles
from tests.elimipl.commands.command_line import is_one_sentence_or_two, run


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(tile_shards, "PICTURES_A_PART", 2)


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.rglob("*.safetensors")}


def test_the_same_files_as_one_process(cluster, pictures, tmp_path):
    here = shards_from_tiles(pictures, tmp_path / "here.shards", "row", workers=1)
    there = shards_from_tiles(pictures, tmp_path / "there.shards", "row", scheduler=cluster.scheduler_address)
    assert contents(tmp_path / "there.shards") == contents(tmp_path / "here.shards")
    assert [str(error) for _, error in there.refused] == [str(error) for _, error in here.refused]
    assert [name for name, _ in there.refused] == ["b/broken.png"]
    again = shards_from_tiles(pictures, tmp_path / "there.shards", "row", scheduler=cluster.scheduler_address)
    assert again.looked_at == 1  # the broken one
    assert contents(tmp_path / "there.shards") == contents(tmp_path / "here.shards")


def test_a_killed_worker_costs_time_not_data(forgiving, mortal, pictures, tmp_path):
    marker = str(tmp_path / "killed")
    params = {"victim": "worker", "marker": marker}
    made = shards_from_tiles(
        pictures, tmp_path / "killed.shards", mortal, scheduler=forgiving.scheduler_address, **params
    )
    assert (tmp_path / "killed").exists()
    assert [name for name, _ in made.refused] == ["b/broken.png"]
    shards_from_tiles(pictures, tmp_path / "here.shards", mortal, workers=1, **params)
    assert contents(tmp_path / "killed.shards") == contents(tmp_path / "here.shards")


def test_a_picture_that_crashes_its_reader_becomes_a_reason(cluster, mortal, pictures, tmp_path):
    shutil.rmtree(pictures / "b")
    (pictures / "b").mkdir()
    (pictures / "a" / "0.png").rename(pictures / "b" / "0.png")
    out = tmp_path / "bags.shards"
    made = shards_from_tiles(pictures, out, mortal, scheduler=cluster.scheduler_address, victim="reader")
    assert made.dataset.names == ("a/1.png", "b/0.png")
    ((name, error),) = made.refused
    assert (name, error.what) == ("a/black.png", "Reading this file stopped the program that reads it.")
    index = shards.read(out)
    assert index.failed == ("a/black.png",)
    assert index.reasons == (str(error),)


def test_a_picture_that_always_kills_its_worker_becomes_a_reason(cluster, mortal, pictures, tmp_path):
    params = {"victim": "worker"}
    made = shards_from_tiles(pictures, tmp_path / "bags.shards", mortal, scheduler=cluster.scheduler_address, **params)
    assert [name for name, _ in made.refused] == ["a/black.png", "b/broken.png"]
    assert made.dataset.names == ("a/0.png", "a/1.png", "b/3.png", "b/4.png", "b/5.png")


def test_what_the_scheduler_gives_up_is_tried_again_in_halves(mortal, pictures, tmp_path, monkeypatch):
    """Here no process dies, so that it takes no time."""
    tried = []

    def given_up(_client, function, parts, shared):
        for part in parts:
            names = [picture.name for picture in part]
            tried.append(names)
            yield part, LostTaskError() if "a/black.png" in names else function(*shared, part)

    monkeypatch.setattr(tile_shards, "PICTURES_A_PART", 4)
    monkeypatch.setattr(tile_shards, "connected", lambda *_: nullcontext())
    monkeypatch.setattr(tile_shards, "on_cluster", given_up)
    made = shards_from_tiles(pictures, tmp_path / "bags.shards", mortal, scheduler="anywhere")
    assert [name for name, _ in made.refused] == ["a/black.png", "b/broken.png"]
    assert made.dataset.names == ("a/0.png", "a/1.png", "b/3.png", "b/4.png", "b/5.png")
    assert tried[2:] == [["a/0.png", "a/1.png"], ["a/black.png", "b/3.png"], ["a/black.png"], ["b/3.png"]]


def test_the_command_writes_the_same_file(cluster, pictures, tmp_path, capsys):
    paths = [tmp_path / "here.safetensors", tmp_path / "there.safetensors"]
    scheduler = ["--scheduler", cluster.scheduler_address]
    for path, where in zip(paths, ([], scheduler), strict=True):
        assert run("bags", pictures, "--generator", "row", "--out", path, "--quiet", *where) == 1
        said = capsys.readouterr()
        assert is_one_sentence_or_two(said.err)
        assert "broken.png: " in said.err
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert not (tmp_path / "there.safetensors.shards").exists()


def test_a_worker_that_does_not_see_the_folder_says_so(cluster, pictures, tmp_path, monkeypatch):
    def moved(client, do, parts, shared):
        return on_cluster(client, do, parts, shared=(replace(shared[0], folder=tmp_path / "elsewhere"),))

    monkeypatch.setattr(tile_shards, "on_cluster", moved)
    with pytest.raises(tile_shards.InputError, match=r"does not see the folder “.*elsewhere”"):
        shards_from_tiles(pictures, tmp_path / "x.shards", "row", scheduler=cluster.scheduler_address)


def test_a_generator_that_cannot_travel_is_refused(mortal, pictures, tmp_path, monkeypatch):
    monkeypatch.setattr(tile_shards, "recipe_of", lambda _name: None)
    with pytest.raises(tile_shards.InputError, match="can't load the generator “mortal”"):
        shards_from_tiles(pictures, tmp_path / "x.shards", mortal, scheduler="tcp://nowhere:1")
