"""The command that classifies pictures."""

import json
import os
import subprocess
import sys
from pathlib import Path

from bag_generators import generate, load
from bag_generators.scale import decide_scale
from bag_generators.tissue.quality import measure
from bag_generators.tissue.samples import list_samples
from elimipl.answers.answer import answer
from elimipl.answers.predictor import Predictor
from tests.elimipl.commands.command_line import run


def test_predict_checks_a_picture_as_the_pages_do(capsys):
    samples = {sample.id: sample for sample in list_samples()}
    files = [samples[name].folder / samples[name].file for name in ("restained-crypt", "phantom-tum")]
    assert run("predict", "--model", "tissue7-row-elimipl", "--quiet", *files) == 0
    predictor = Predictor.load("tissue7-row-elimipl")
    for file, text in zip(files, capsys.readouterr().out.splitlines(), strict=True):
        line, image = json.loads(text), load(file)
        bag = generate("row", image)
        expected = answer(measure(image).numbers(), predictor, bag, predictor.predict(bag)).read_at(decide_scale(image))
        assert {name: line[name] for name in expected.to_dict()} == expected.to_dict()
        assert {"size", "tissue", "blur", "colour", "distance", "entropy"} <= {one["name"] for one in line["checks"]}
        assert line["in_scope"] is (file.stem == "restained-crypt")  # pure colours alone are no fault, a drawing is
        assert line["trusted"] is expected.trusted


def test_predict_in_sentences(toy_folder, tiles, tmp_path, capsys):
    (tmp_path / "no.png").write_text("no picture")
    files = [tiles / "white" / "3.png", tmp_path / "no.png"]
    assert run("predict", "--model", "toy-row-elimipl", "--folder", toy_folder, "--quiet", "--text", *files) == 1
    said = capsys.readouterr().out.splitlines()
    assert said[0] == str(files[0])
    assert said[1].startswith("  white, ")
    assert "not to be trusted as it is" in said[1]
    assert any(line.startswith("  Not checked") for line in said)
    assert said[-2] == str(files[1])
    assert said[-1].startswith("  This is not an image")


def test_predict_reads_the_whole_picture_at_a_scale_that_pixels_have(capsys):
    samples = {sample.id: sample for sample in list_samples()}
    section = samples["restained-section"]
    file, predictor = section.folder / section.file, Predictor.load("colon-deep-elimipl")
    assert run("predict", "--model", predictor.card.id, "--quiet", file) == 0
    assert run("predict", "--model", predictor.card.id, "--quiet", "--microns-per-pixel", "0.25", file) == 0
    lines = [json.loads(text) for text in capsys.readouterr().out.splitlines()]
    assert [(line["scale"]["microns_per_pixel"], line["scale"]["origin"]) for line in lines] == [
        (0.5, "assumed"),
        (0.25, "by hand"),
    ]
    for line, image in zip(lines, (load(file), load(file).at_scale(0.25, "test")), strict=True):
        prediction = predictor.predict(generate("deep", image))
        assert list(line["probabilities"].values()) == prediction.probabilities.tolist()
    sample = list_samples()[0]
    file = sample.folder / sample.file
    assert run("predict", "--model", "tissue7-row-elimipl", "--quiet", "--microns-per-pixel", "-1", file) == 2
    assert "can't be -1 µm large" in capsys.readouterr().err


def test_predict_survives_a_name_that_is_no_text(toy_folder, tiles, tmp_path):
    name = os.fsencode(tmp_path) + b"/\xff\n.png"
    Path(os.fsdecode(name)).write_bytes((tiles / "pink" / "0.png").read_bytes())
    command = [sys.executable, "-m", "elimipl", "predict", "--model", "toy-row-elimipl", "--folder", toy_folder, name]
    done = subprocess.run([*command, "--quiet"], cwd=Path(__file__).parents[3], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout)["file"].endswith("/?\n.png")
    assert len(done.stdout.splitlines()) == 1


def test_predict_without_a_failure_ends_well(toy_folder, tiles, capsys):
    file = tiles / "white" / "3.png"
    assert run("predict", "--model", "toy-row-elimipl", "--folder", toy_folder, file) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["label"] == "white"
    assert "1/1" in said.err


def test_predict_reads_the_bags_of_a_file(toy_folder, toy_dataset, data, tiles, tmp_path, capsys):
    toy_dataset.save(tmp_path / "toy.shards")
    picture = tiles / "white" / "3.png"
    files = [data, picture, tmp_path / "toy.shards"]
    assert run("predict", "--model", "toy-row-elimipl", "--folder", toy_folder, "--quiet", *files) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    m = len(toy_dataset)
    assert [line["file"] for line in lines] == [str(data)] * m + [str(picture)] + [str(files[2])] * m
    assert [line.get("bag") for line in lines[:m]] == list(toy_dataset.names)
    expected = Predictor.load("toy-row-elimipl", toy_folder).predict_dataset(toy_dataset)
    for line, again, one in zip(lines[:m], lines[m + 1 :], expected, strict=True):
        assert (line["label"], line["attention"]) == (one.label, one.attention.tolist())
        assert again["probabilities"] == line["probabilities"]
        assert {"size", "tissue", "blur", "colour"} <= set(line["not_checked"])  # there is no picture
        assert line["trusted"] is False


def test_predict_reads_bags_that_nobody_has_labelled(toy_folder, tiles, tmp_path, capsys):
    bags = ("bags", "--unlabelled", tiles / "pink", "--generator", "row", "--out", tmp_path / "bags.safetensors")
    assert run(*bags) == 0
    capsys.readouterr()
    arguments = ("predict", "--model", "toy-row-elimipl", "--folder", toy_folder, "--quiet", "--text")
    assert run(*arguments, tmp_path / "bags.safetensors") == 0
    assert capsys.readouterr().out.count("  pink, ") == 6


def test_predict_says_why_a_bag_file_can_not_be_used(toy_folder, tmp_path, capsys):
    (tmp_path / "no.safetensors").write_text("no bags")
    arguments = ("predict", "--model", "toy-row-elimipl", "--folder", toy_folder, "--quiet")
    assert run(*arguments, tmp_path / "no.safetensors", tmp_path / "gone.mat") == 1
    said = [json.loads(line)["error"] for line in capsys.readouterr().out.splitlines()]
    assert "not a whole bag data set" in said[0]
    assert "There is no file" in said[1]
