"""The command line: every command on a toy task, every failure a sentence."""

import argparse
import io
import json
import os
import re
import signal
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest

from bag_generators import generate, load
from bag_generators.__main__ import main as make_bags
from bag_generators.tissue.quality import measure
from bag_generators.tissue.samples import list_samples
from elimipl.cards.card import Card
from elimipl.cards.limits import MEASURES
from elimipl.commands import COMMANDS, arguments, main
from elimipl.commands import models as models_command
from elimipl.commands import train as train_command
from elimipl.data.shipped import BAGS_FOLDER
from elimipl.dataset import BagDataset
from elimipl.predictor import Predictor
from elimipl.scope import judge
from tests.elimipl.data.range_server import Behaviour, serve

ROOT = Path(__file__).resolve().parents[3]
QUICK = ["--epochs", "4", "--hidden", "8", "--batch", "8", "--device", "cpu", "--quiet"]


def run(*arguments):
    """The exit code, also where argparse ends the program itself."""
    try:
        return main([str(argument) for argument in arguments])
    except SystemExit as end:
        return end.code


def is_one_sentence_or_two(text):
    return len(text.strip().splitlines()) == 1 and text.strip().endswith(".") and "Traceback" not in text


@pytest.fixture(scope="session")
def tiles(tmp_path_factory, draw_toy_picture):
    """A folder of class folders with six pictures each."""
    folder = tmp_path_factory.mktemp("tiles")
    for name in ("blue", "pink", "white"):
        (folder / name).mkdir()
        for seed in range(6):
            pixels = draw_toy_picture(name, seed).pixels
            cv2.imwrite(str(folder / name / f"{seed}.png"), cv2.cvtColor(pixels, cv2.COLOR_RGB2BGR))
    return folder


@pytest.fixture
def data(toy_dataset, tmp_path):
    path = tmp_path / "toy.safetensors"
    toy_dataset.save(path)
    return path


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


def test_bags_that_nobody_labelled_are_not_trained_on(tiles, tmp_path, capsys):
    out = tmp_path / "unlabelled.safetensors"
    assert make_bags([str(tiles), "--generator", "row", "--out", str(out)]) == 0
    capsys.readouterr()
    assert run("train", out, "--out", tmp_path, *QUICK) == 2
    assert "Nobody has labelled the bags" in capsys.readouterr().err


def test_train_writes_a_model_that_predicts(data, tiles, tmp_path, capsys):
    folder = tmp_path / "models"
    arguments = [
        "--out",
        folder,
        "--epochs",
        "60",
        "--hidden",
        "32",
        "--batch",
        "4",
        "--lr",
        "0.05",
        "--seed",
        "5",
        "--device",
        "cpu",
    ]
    assert run("train", data, *arguments) == 0
    said = capsys.readouterr()
    assert "toy-row-elimipl" in said.out
    assert "60/60" in said.err
    card = Card.read(folder / "toy-row-elimipl.json")
    assert card.accuracy.n == card.calibration.n == 6
    assert card.training_data.bags == 18
    assert (card.seed, card.candidates.scheme) == (5, "as in the data set")

    files = [tiles / "blue" / "1.png", tmp_path / "gone.png", tiles / "pink" / "2.png"]
    assert run("predict", "--model", card.id, "--folder", folder, "--quiet", *files) == 1
    blue, gone, pink = map(json.loads, capsys.readouterr().out.splitlines())
    assert [line["file"] for line in (blue, gone, pink)] == [str(file) for file in files]
    assert (blue["label"], pink["label"]) == ("blue", "pink")
    assert blue["probabilities"].keys() == {"blue", "pink", "white"}
    assert sum(blue["probabilities"].values()) == pytest.approx(1)
    assert blue["probability"] == max(blue["probabilities"].values())
    assert len(blue["attention"]) == 8
    assert sum(blue["attention"]) == pytest.approx(1)
    assert blue["notes"] == []
    # No pixels are kept in a bag file, so the picture itself could not be checked: nobody says that it is in scope.
    assert [one["name"] for one in blue["checks"]] == ["distance", "entropy"]
    assert all(one["reason"].endswith(".") for one in blue["checks"])
    assert blue["in_scope"] is (None if all(one["passed"] for one in blue["checks"]) else False)
    assert blue["not_checked"] == ["size", "tissue", "blur", "colour"]
    assert gone.keys() == {"file", "model", "error"}
    assert "gone.png" in gone["error"]


def test_predict_checks_a_picture_as_the_pages_do(capsys):
    samples = {sample.id: sample for sample in list_samples()}
    files = [samples[name].folder / samples[name].file for name in ("restained-crypt", "phantom-tum")]
    assert run("predict", "--model", "tissue7-row-elimipl", "--quiet", *files) == 0
    predictor = Predictor.load("tissue7-row-elimipl")
    for file, text in zip(files, capsys.readouterr().out.splitlines(), strict=True):
        line, image = json.loads(text), load(file)
        bag = generate("row", image)
        expected = judge(measure(image).numbers(), predictor, bag, predictor.predict(bag)).to_dict()
        assert {name: line[name] for name in expected} == expected
        assert len(line["checks"]) == 6
        assert line["in_scope"] is False


def test_train_draws_candidates_once_per_picture_and_knows_phantoms(tmp_path, capsys):
    data = BAGS_FOLDER / "tissue7-row.safetensors"
    assert run("train", data, "--out", tmp_path, "--r", "2", "--held-out", "0", *QUICK) == 0
    card = Card.read(tmp_path / "tissue7-row-elimipl.json")
    assert (card.pictures, set(card.checks.limits)) == ("tissue tiles", MEASURES)
    assert run("train", BAGS_FOLDER / "phantoms-row.safetensors", "--out", tmp_path, *QUICK) == 0
    assert Card.read(tmp_path / "phantoms-row-elimipl.json").pictures == "drawn phantoms"


def test_evaluate_and_bags_share_the_sets_of_copies():
    copies = BagDataset.load(BAGS_FOLDER / "tissue7-row.safetensors")
    for asked in (["--r", "2"], ["--crowd"]):
        parser = argparse.ArgumentParser()
        arguments.add_candidates(parser)
        given = arguments.candidates_from(parser.parse_args(asked)).given_to(copies)
        assert (given.candidates.reshape(-1, 4, 7) == given.candidates[::4][:, None]).all()


def test_a_name_that_names_no_model_is_refused_before_training(data, tmp_path, monkeypatch):
    monkeypatch.setattr(train_command, "fit", lambda *_, **__: pytest.fail("it was trained"))
    assert run("train", data, "--out", tmp_path, "--id", "../mine") == 2


def test_predict_survives_a_name_that_is_no_text(toy_folder, tiles, tmp_path):
    name = os.fsencode(tmp_path) + b"/\xff\n.png"
    Path(os.fsdecode(name)).write_bytes((tiles / "pink" / "0.png").read_bytes())
    command = [sys.executable, "-m", "elimipl", "predict", "--model", "toy-row-elimipl", "--folder", toy_folder, name]
    done = subprocess.run([*command, "--quiet"], cwd=ROOT, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout)["file"].endswith("/?\n.png")
    assert len(done.stdout.splitlines()) == 1


def test_predict_without_a_failure_ends_well(toy_folder, tiles, capsys):
    file = tiles / "white" / "3.png"
    assert run("predict", "--model", "toy-row-elimipl", "--folder", toy_folder, file) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["label"] == "white"
    assert "1/1" in said.err


def test_train_on_everything_with_other_settings(data, tmp_path, capsys):
    arguments = ["--method", "demipl", "--preset", "published", "--set", "mu=0.25", "--held-out", "0", "--id", "mine"]
    assert run("train", data, "--out", tmp_path, *arguments, "--crowd", "--candidate-seed", "7", *QUICK) == 0
    card = Card.read(tmp_path / "mine.json")
    assert (card.method, card.config["mu"], card.config["head"]) == ("demipl", 0.25, "softmax_of_sigmoid")
    assert (card.accuracy, card.calibration, card.training_data.bags) == (None, None, 24)
    assert (card.candidates.scheme, card.candidates.seed) == ("three simulated annotators, two of three", 7)
    assert "nothing held out" in capsys.readouterr().out


def test_a_stopped_training_goes_on_to_the_same_model(data, tmp_path, monkeypatch, capsys):
    checkpoint, whole, parts = tmp_path / "run.safetensors", tmp_path / "whole", tmp_path / "parts"
    assert run("train", data, "--out", whole, *QUICK) == 0
    show = train_command._numbers

    def interrupt(report):
        if report.epoch == 2:
            signal.raise_signal(signal.SIGINT)
        return show(report)

    with monkeypatch.context() as patched:
        patched.setattr(train_command, "_numbers", interrupt)
        assert run("train", data, "--out", parts, "--checkpoint", checkpoint, *QUICK) == 130
    assert "Stopped after epoch 2 of 4. Go on with --resume." in capsys.readouterr().out
    assert not parts.exists()
    assert run("train", data, "--out", parts, "--checkpoint", checkpoint, "--resume", *QUICK) == 0
    name = "toy-row-elimipl.safetensors"
    assert (parts / name).read_bytes() == (whole / name).read_bytes()


def test_evaluate_prints_the_table(data, capsys):
    assert run("evaluate", data, "--splits", 3, "--workers", 1, "--r", 1, *QUICK) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["split", "accuracy", "disambiguated", "seconds"]
    accuracies = [float(line.split()[1]) for line in lines[1:4]]
    mean, std = re.match(r"mean ± std \(ddof 0\): (\S+)±(\S+) in", lines[4]).groups()
    assert float(mean) == pytest.approx(np.mean(accuracies), abs=2e-3)
    assert float(std) == pytest.approx(np.std(accuracies), abs=2e-3)


def test_evaluate_as_json(data, capsys):
    assert run("evaluate", data, "--splits", 2, "--workers", 1, "--json", *QUICK) == 0
    result = json.loads(capsys.readouterr().out)
    assert len(result["accuracies"]) == 2
    assert result["mean"] == pytest.approx(np.mean(result["accuracies"]))
    assert result["config"]["epochs"] == 4


def test_models(toy_folder, capsys):
    assert run("models", "--folder", toy_folder) == 0
    assert capsys.readouterr().out == "toy-row-elimipl  accuracy 0.900, n = 24, on the training bags\n"
    assert run("models", "--json", "--folder", toy_folder) == 0
    (entry,) = json.loads(capsys.readouterr().out)
    assert entry["id"] == "toy-row-elimipl"
    assert (entry["method"], entry["generator"], entry["label_space"], entry["accuracy"]) == (
        "elimipl",
        "row",
        "toy",
        0.9,
    )


def test_the_models_that_ship_are_listed_and_whole(capsys):
    assert run("models", "--json") == 0
    for entry in json.loads(capsys.readouterr().out):
        assert Predictor.load(entry["id"]).card.method == entry["method"]


def test_fetch_a_few_tiles_and_a_whole_set(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("no_proxy", "*")
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name in ("STR", "TUM", "ADI"):
            for i in range(5):
                archive.writestr(f"CRC-VAL-HE-7K/{name}/{name}-{i}.tif", f"tile {i} of {name}")
    few, whole = tmp_path / "few", tmp_path / "whole"
    with serve(Behaviour({"CRC-VAL-HE-7K.zip": content.getvalue()})) as address:
        assert run("fetch", "--out", few, "--per-class", 2, "--classes", "TUM", "STR", "--url", address) == 0
        assert run("fetch", "CRC-VAL-HE-7K", "--whole", "--out", whole, "--url", address, "--quiet") == 0
    said = capsys.readouterr()
    assert f"4 tiles of CRC-VAL-HE-7K (CC BY 4.0) are in {few}.\n15 tiles" in said.out
    assert "4/4" in said.err
    assert sorted(path.parent.name for path in few.rglob("*.tif")) == ["STR", "STR", "TUM", "TUM"]
    assert len(list(whole.rglob("*.tif"))) == 15


def test_doctor_examines_the_models(toy_folder, capsys):
    assert run("doctor", "--folder", toy_folder) == 0
    assert "PASS  1 of 1 models" in capsys.readouterr().out
    (toy_folder / "toy-row-elimipl.safetensors").unlink()
    assert run("doctor", "--folder", toy_folder) == 1
    assert "FAIL  The weights “toy-row-elimipl.safetensors”" in capsys.readouterr().out


FAILURES = {
    "no command": ([], "arguments are required: COMMAND"),
    "unknown command": (["fly"], "invalid choice: 'fly'"),
    "nothing given": (["train"], "required: DATA, --out"),
    "no such data": (["train", "gone.safetensors", "--out", "x"], "no file “gone.safetensors”"),
    "not a data set": (["evaluate", "{text}"], "not a whole bag data set"),
    "not MATLAB": (["evaluate", "{text}.mat"], "text.mat"),
    "unknown setting": (["train", "{data}", "--out", "x", "--set", "moo=1"], "no setting 'moo'"),
    "setting without value": (["train", "{data}", "--out", "x", "--set", "mu"], "“mu” sets nothing"),
    "epochs": (["train", "{data}", "--out", "x", "--epochs", "many"], "invalid int value: 'many'"),
    "too many candidates": (["train", "{data}", "--out", "x", "--r", "5"], "5 false positives"),
    "r and crowd": (["train", "{data}", "--out", "x", "--r", "1", "--crowd"], "not allowed with"),
    "held out": (["train", "{data}", "--out", "x", "--held-out", "1.5"], "share of 1.5"),
    "resume what": (["train", "{data}", "--out", "x", "--resume"], "no checkpoint to resume"),
    "device": (["train", "{data}", "--out", "x", "--device", "abacus"], "no device 'abacus'"),
    "unwritable": (["train", "{data}", "--out", "{text}", "--epochs", "1", "--quiet"], "could not be written"),
    "no splits": (["evaluate", "{data}", "--splits", "0"], "0 splits"),
    "no split files": (["evaluate", "{data}", "--index", "gone"], "gone"),
    "no folder": (["bags", "gone", "--generator", "row", "--out", "x"], "no folder “gone”"),
    "no generator": (["bags", ".", "--generator", "brush", "--out", "x"], "invalid choice: 'brush'"),
    "no stain": (["bags", "{tiles}", "--generator", "row", "--stain", "ink", "--out", "x", "--quiet"], "ink"),
    "no folder to write to": (["bags", "{tiles}", "--generator", "row", "--out", "new/x"], "there is no folder “new”"),
    "a folder to write to": (["bags", "{tiles}", "--generator", "row", "--out", "."], "that is a folder"),
    "another ending": (["bags", "{tiles}", "--generator", "row", "--out", "x.npz"], "“x.safetensors” instead"),
    "r and crowd for bags": (
        ["bags", "{tiles}", "--generator", "row", "--out", "x", "--r", "1", "--crowd"],
        "not allow",
    ),
    "no workers": (["evaluate", "{data}", "--workers", "0", "--quiet"], "0 workers"),
    "no model": (["predict", "--model", "gone", "a.png"], "no model called “gone”"),
    "no model folder": (["models", "--folder", "gone"], "no folder of models “gone”"),
    "no data set": (["fetch", "CATS", "--out", "x"], "invalid choice: 'CATS'"),
    "no server": (["fetch", "--out", "x", "--url", "http://127.0.0.1:9", "--quiet"], "127.0.0.1"),
}


@pytest.mark.parametrize("case", FAILURES)
def test_every_failure_is_a_sentence(case, data, tiles, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name in ("text", "text.mat"):
        (tmp_path / name).write_text("just text")
    arguments, said = FAILURES[case]
    places = {"data": data, "tiles": tiles, "text": tmp_path / "text"}
    assert run(*(argument.format(**places) for argument in arguments)) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert is_one_sentence_or_two(output.err)
    assert said in output.err


def test_bags_without_labels_can_only_be_trained_on(toy_dataset, tmp_path, capsys):
    path = tmp_path / "unlabelled.safetensors"
    replace(toy_dataset, labels=np.full(len(toy_dataset), -1)).save(path)
    assert run("train", path, "--out", tmp_path, *QUICK) == 2
    assert "--held-out 0" in capsys.readouterr().err
    assert run("train", path, "--out", tmp_path, "--held-out", "0", *QUICK) == 0


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (RuntimeError("odd"), 2, "fault of the program (RuntimeError: odd)"),
        (MemoryError(), 2, "too little memory"),
        (PermissionError(13, "Permission denied", "x"), 2, "The system refused"),
        (ModuleNotFoundError("No module named 'torch'"), 2, "doctor"),
        (KeyboardInterrupt(), 130, "Stopped."),
    ],
)
def test_what_nobody_expected_is_a_sentence_too(error, code, said, monkeypatch, capsys):
    def fail(_):
        raise error

    monkeypatch.setattr(models_command, "run", fail)
    assert run("models") == code
    output = capsys.readouterr().err
    assert is_one_sentence_or_two(output)
    assert said in output


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command, capsys):
    assert run(command, "--help") == 0
    assert f"python -m elimipl {command}" in capsys.readouterr().out


def test_as_a_program_whose_reader_goes_away(toy_folder):
    """`python -m elimipl models | true`: no complaint about the broken pipe."""
    program = [sys.executable, "-m", "elimipl", "models", "--folder", str(toy_folder)]
    with subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
