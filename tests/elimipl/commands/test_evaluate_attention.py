"""The command that measures explanations, of a model that exists and of fresh ones."""

import json

import pytest

from elimipl.trust import measure_trust
from tests.elimipl.commands.command_line import run


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
