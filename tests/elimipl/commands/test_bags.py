"""The command that makes bags of pictures."""

import json
import os
import re
from pathlib import Path

import pytest

from elimipl.datasets.dataset import BagDataset
from tests.elimipl.commands.command_line import QUICK, is_one_sentence_or_two, run


def test_bags_of_a_folder(tiles, tmp_path, capsys):
    out = tmp_path / "bags.safetensors"
    assert (
        run("bags", tiles, "--generator", "row", "--out", out, "--source", "drawn", "--licence", "CC0", "--r", 1) == 0
    )
    dataset = BagDataset.load(out)
    assert (len(dataset), dataset.dim, dataset.generator, dataset.params["stain"]) == (18, 9, "row", "none")
    assert dataset.label_space.names == ("blue", "pink", "white")
    assert (dataset.candidates.sum(axis=1) == 2).all()
    assert (dataset.source, dataset.licence) == ("drawn", "CC0")
    said = capsys.readouterr()
    assert "18 bags" in said.out
    assert "18/18" in said.err  # the progress bar


def test_bags_with_a_stain_and_a_broken_picture(tiles, tmp_path, capsys):
    folder = tmp_path / "tiles"
    for source in tiles.rglob("0.png"):
        target = folder / source.parent.name / source.name
        target.parent.mkdir(parents=True)
        target.write_bytes(source.read_bytes())
    (folder / "pink" / "broken.png").write_bytes(b"not a picture")
    out = tmp_path / "bags.safetensors"
    arguments = ["--generator", "sbn", "--stain", "reinhard", "--crowd", "1.5", "--out", out, "--quiet"]
    assert run("bags", folder, *arguments) == 1
    dataset = BagDataset.load(out)
    assert (len(dataset), dataset.params["stain"]) == (3, "reinhard")
    said = capsys.readouterr().err
    assert is_one_sentence_or_two(said)
    assert "broken.png: " in said


@pytest.mark.parametrize("wrong", [("--r", 99), ("--crowd", 99), ("--out", "nowhere/x"), ("--out", "x.npz")], ids=str)
def test_bags_refuses_before_the_first_picture(wrong, tiles, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("elimipl.commands.bags.bags_from_tiles", lambda *_, **__: pytest.fail("bags were made"))
    assert run("bags", tiles, "--generator", "row", "--out", "x", *wrong) == 2
    assert is_one_sentence_or_two(capsys.readouterr().err)
    assert list(tmp_path.iterdir()) == []


def test_bags_that_nobody_labelled_are_not_trained_on(tiles, tmp_path, capsys):
    out = tmp_path / "unlabelled.safetensors"
    assert run("bags", "--unlabelled", tiles, "--generator", "row", "--out", out) == 0
    capsys.readouterr()
    assert run("train", out, "--out", tmp_path, *QUICK) == 2
    assert "Nobody has labelled the bags" in capsys.readouterr().err


def test_names_that_are_not_utf8_do_not_cost_the_run(tiles, tmp_path, capsys):
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/tiles\xff"))
    for kind in ("pink", "blue"):
        (folder / kind).mkdir(parents=True)
        name = Path(os.fsdecode(os.fsencode(folder / kind) + b"/caf\xe9.png"))
        name.write_bytes((tiles / kind / "0.png").read_bytes())
    out = tmp_path / "bags.safetensors"
    assert run("bags", folder, "--generator", "row", "--out", out, "--quiet") == 0
    dataset = BagDataset.load(out)
    assert dataset.names == ("blue/caf�.png", "pink/caf�.png")
    assert dataset.source.startswith("tiles�")
    assert b"blue/caf\xe9.png" in out.read_bytes()


def test_a_folder_of_shards_is_a_data_set_for_every_command(tiles, tmp_path, capsys):
    out, file = tmp_path / "bags.shards", tmp_path / "bags.safetensors"
    for path in (out, file):
        assert run("bags", tiles, "--generator", "row", "--out", path, "--r", 1, "--quiet") == 0
    assert "18 bags" in capsys.readouterr().out
    for path in (out, file):
        assert run("train", path, "--out", tmp_path, "--id", f"of-{path.suffix[1:]}", *QUICK) == 0
    models = [tmp_path / f"of-{name}.safetensors" for name in ("shards", "safetensors")]
    assert models[0].read_bytes() == models[1].read_bytes()
    measured = []
    for path in (out, file):
        capsys.readouterr()
        assert run("evaluate", path, "--splits", 2, "--workers", 1, "--json", *QUICK) == 0
        measured.append(json.loads(capsys.readouterr().out)["accuracies"])
    assert measured[0] == measured[1]


def test_bags_of_cells_say_how_fast_they_were_made(tiles, tmp_path, capsys):
    options = ["--generator", "deep", "--quiet", "--workers", "1"]
    assert run("bags", tiles, "--out", tmp_path / "bags.safetensors", *options) == 0
    assert re.search(r"18 pictures read in [\d.]+ s, [\d.]+ a second\.", capsys.readouterr().out)
    assert BagDataset.load(tmp_path / "bags.safetensors").dim == 256
