"""The commands that train and evaluate."""

import argparse
import json
import re
import signal
from dataclasses import replace

import numpy as np
import pytest

from elimipl.answers.predictor import Predictor
from elimipl.answers.trust import measure_trust
from elimipl.cards.card import Card
from elimipl.cards.limits import MEASURES
from elimipl.commands import arguments
from elimipl.commands import train as train_command
from elimipl.datasets.dataset import BagDataset
from elimipl.datasets.shipped import BAGS_FOLDER
from tests.elimipl.commands.command_line import QUICK, run

SINCE = ("cdl-dam-cc", "MIPLMA-batch", "ELIMIPL-unscaled", "CDL-MAM-CN-sigmoid")


def test_train_writes_a_model_that_predicts(data, tiles, tmp_path, capsys):
    folder = tmp_path / "models"
    options = ["--epochs", "60", "--hidden", "32", "--batch", "4", "--lr", "0.05", "--seed", "5", "--device", "cpu"]
    assert run("train", data, "--out", folder, *options) == 0
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
    assert [one["name"] for one in blue["checks"]] == ["distance", "entropy", "label_set", "scale"]
    assert all(one["reason"].endswith(".") for one in blue["checks"])
    distance, entropy, *_ = (one["passed"] for one in blue["checks"])  # the set of labels says nothing of the scope
    assert blue["in_scope"] is (None if distance and entropy else False)
    assert blue["not_checked"] == ["size", "tissue", "blur", "colour"]
    assert gone.keys() == {"file", "model", "error"}
    assert "gone.png" in gone["error"]


@pytest.mark.parametrize("method", ["CDL-SAM-CN", "miplma", "ABMIL"])
def test_train_knows_the_methods_since(method, data, tmp_path, capsys):
    quick = ["--epochs", "3", "--hidden", "8", "--batch", "8", "--quiet", "--device", "cpu"]
    assert run("train", data, "--method", method, "--out", tmp_path, *quick) == 0
    card = Card.read(tmp_path / f"toy-row-{method.lower()}.json")
    assert card.method == card.config["method"] == method.lower()
    dataset = BagDataset.load(data)
    predictor = Predictor.load(card.id, tmp_path)
    assert len(predictor.predict_dataset(dataset)) == len(dataset)
    assert measure_trust(predictor, dataset, 0).bags == len(dataset)


def test_train_draws_candidates_once_per_picture_and_knows_phantoms(tmp_path, capsys):
    data = BAGS_FOLDER / "tissue7-row.safetensors"
    assert run("train", data, "--out", tmp_path, "--r", "2", "--held-out", "0", *QUICK) == 0
    card = Card.read(tmp_path / "tissue7-row-elimipl.json")
    assert (card.pictures, set(card.checks.limits)) == ("tissue tiles", MEASURES - {"field"})
    assert run("train", BAGS_FOLDER / "phantoms-row.safetensors", "--out", tmp_path, *QUICK) == 0
    assert Card.read(tmp_path / "phantoms-row-elimipl.json").pictures == "drawn phantoms"


def test_a_name_that_names_no_model_is_refused_before_training(data, tmp_path, monkeypatch):
    monkeypatch.setattr(train_command, "fit", lambda *_, **__: pytest.fail("it was trained"))
    assert run("train", data, "--out", tmp_path, "--id", "../mine") == 2


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


def test_bags_without_labels_can_only_be_trained_on(toy_dataset, tmp_path, capsys):
    path = tmp_path / "unlabelled.safetensors"
    replace(toy_dataset, labels=np.full(len(toy_dataset), -1)).save(path)
    assert run("train", path, "--out", tmp_path, *QUICK) == 2
    assert "--held-out 0" in capsys.readouterr().err
    assert run("train", path, "--out", tmp_path, "--held-out", "0", *QUICK) == 0


def test_evaluate_and_bags_share_the_sets_of_copies():
    copies = BagDataset.load(BAGS_FOLDER / "tissue7-row.safetensors")
    for asked in (["--r", "2"], ["--crowd"]):
        parser = argparse.ArgumentParser()
        arguments.add_candidates(parser)
        given = arguments.candidates_from(parser.parse_args(asked)).given_to(copies)
        assert (given.candidates.reshape(-1, 4, 7) == given.candidates[::4][:, None]).all()


def test_evaluate_prints_the_table_or_json(data, capsys):
    assert run("evaluate", data, "--splits", 3, "--workers", 1, "--r", 1, *QUICK) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["split", "accuracy", "disambiguated", "seconds"]
    accuracies = [float(line.split()[1]) for line in lines[1:4]]
    mean, std = re.match(r"mean ± std \(ddof 0\): (\S+)±(\S+) in", lines[4]).groups()
    assert float(mean) == pytest.approx(np.mean(accuracies), abs=2e-3)
    assert float(std) == pytest.approx(np.std(accuracies), abs=2e-3)
    assert run("evaluate", data, "--splits", 2, "--workers", 1, "--json", *QUICK) == 0
    result = json.loads(capsys.readouterr().out)
    assert len(result["accuracies"]) == 2
    assert result["mean"] == pytest.approx(np.mean(result["accuracies"]))
    assert result["config"]["epochs"] == 4


@pytest.mark.parametrize("name", ["PRODEN-Mean", "rc-mlp-maxmin", "MIPLGP", "ma+in", "ELIMIPL-entropy", *SINCE])
def test_evaluate_knows_every_method(name, data, capsys):
    quick = ["--splits", 1, "--workers", 1, "--epochs", 2, "--device", "cpu", "--quiet", "--json"]
    quick += ["--hidden", 8] if name in SINCE else []
    assert run("evaluate", data, "--method", name, *quick) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["method"].casefold() == name.casefold()
    assert content["config"]["epochs"] == 2
    assert len(content["accuracies"]) == 1
    if name in SINCE:
        assert run("evaluate", data, "--method", name, "--attention", *quick) == 0


def test_bags_whose_candidates_miss_the_true_label_are_counted_and_named(toy_dataset, tmp_path, capsys):
    candidates = toy_dataset.candidates.copy()
    candidates[[0, 3]] = ~candidates[[0, 3]]
    toy_dataset.with_candidates(candidates).save(tmp_path / "crowd.safetensors")
    assert run("evaluate", tmp_path / "crowd.safetensors", "--splits", 1, "--workers", 1, *QUICK) == 0
    said = capsys.readouterr().err
    assert f"The true label of 2 of {len(toy_dataset)} bags" in said
    assert "not among their candidates: bag 0, bag 3." in said


def test_train_measures_on_another_data_set(data, toy_dataset, tmp_path, capsys):
    options = ["--out", tmp_path / "models", *QUICK, "--quiet"]
    toy_dataset.subset(range(5)).save(tmp_path / "test.safetensors")
    assert run("train", data, "--test", tmp_path / "test.safetensors", *options) == 0
    assert "on 5 test bags" in capsys.readouterr().out
    card = Card.read(next((tmp_path / "models").glob("*.json")))
    assert (card.accuracy.n, card.calibration.n) == (5, 6)
    assert run("train", data, "--test", tmp_path / "test.safetensors", "--held-out", "0", *options) == 2
    assert "Nothing is held out to calibrate on" in capsys.readouterr().err
    replace(toy_dataset, generator="sbn").save(tmp_path / "other.safetensors")
    assert run("train", data, "--test", tmp_path / "other.safetensors", *options) == 2
    assert "another generator or other classes" in capsys.readouterr().err


@pytest.fixture
def saved(judge_of_evidence, evidence, tmp_path):
    """The model's folder and the file of eight bags."""
    judge_of_evidence.save(tmp_path / "models")
    evidence.subset(range(8)).save(tmp_path / "bags.safetensors")
    return tmp_path / "models", tmp_path / "bags.safetensors"


def test_a_model_that_exists(saved, judge_of_evidence, evidence, capsys):
    folder, bags = saved
    named = ("--model", judge_of_evidence.card.id, "--folder", folder)
    assert run("evaluate", bags, "--attention", *named, "--json") == 0
    (found,) = json.loads(capsys.readouterr().out)
    expected = measure_trust(judge_of_evidence.predictor, evidence.subset(range(8)))
    assert found["methods"]["attention"]["auroc"] == pytest.approx(expected.methods["attention"].auroc)
    assert found["bags"] == 8
    assert run("evaluate", bags, "--attention", *named) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[:3] == ["ranked", "by", "AUROC"]
    assert len(lines) == 1 + 5 + 5 + 1
    assert lines[-1].startswith("8 bags, 8 with instance truth; evenness")


def test_fresh_models_on_splits(saved, capsys):
    splits = ("--splits", 2, "--epochs", 2, "--hidden", 8, "--quiet", "--json")
    assert run("evaluate", saved[1], "--attention", *splits) == 0
    measured = json.loads(capsys.readouterr().out)
    assert [(one["on"], one["bags"]) for one in measured] == [("the test bags of a split", 2)] * 2
