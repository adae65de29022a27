"""A few seconds of fuzzing of every reader, the same files each time; `make fuzz` goes on for minutes."""

import json
import os
import random
import sys
from collections.abc import Iterator

import pytest

from bag_generators.base.errors import InputError
from fuzz import __main__ as runner
from fuzz.mutations import ODD_VALUES, mutated, with_right_sums
from fuzz.seeds import CORPUS, kept, pictures
from fuzz.targets import TARGETS, Target, outcome

EXAMPLES = {"picture": 600, "tiff": 600}
OTHERS = 150


@pytest.fixture
def no_chatter() -> Iterator[None]:
    """libtiff writes about damaged files to the process's own stderr."""
    kept = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    yield
    os.dup2(kept, 2)
    os.close(kept)
    os.close(nowhere)


@pytest.mark.filterwarnings("ignore:We do not support byte ordering:UserWarning")
@pytest.mark.parametrize("name", list(TARGETS))
def test_only_sentences_escape(name, no_chatter):
    """Neither those that earlier runs kept nor changes of them and of sound files."""
    target, rng, files = TARGETS[name], random.Random(0), kept(name)
    assert len(files) <= runner.MOST_KEPT
    for content in files:
        outcome(target, content)
        assert len(content) <= runner.LARGEST_KEPT
    seeds, examples = [*target.seeds(), *files], EXAMPLES.get(name, OTHERS)
    refused = sum(outcome(target, mutated(rng.choice(seeds), rng)) is not None for _ in range(examples))
    assert 0 < refused <= examples


@pytest.mark.parametrize("name", list(TARGETS))
def test_the_files_that_changes_start_from_are_sound(name):
    refusals = [refusal for seed in TARGETS[name].seeds() if (refusal := outcome(TARGETS[name], seed)) is not None]
    odd = {"tile-zip": "packed in an unusual way", "matlab": "not a cell array", "worker": "not an image"}
    assert len(refusals) == (name in odd)
    assert all(odd[name] in str(refusal) for refusal in refusals)


def test_the_smallest_finds_are_kept(monkeypatch, tmp_path):
    monkeypatch.setattr(runner, "WORKING", tmp_path / "working")
    monkeypatch.setattr(runner, "CORPUS", tmp_path / "kept")
    (tmp_path / "working" / "card").mkdir(parents=True)
    for size in (1, 5, runner.LARGEST_KEPT + 1, *range(10, 30)):
        (tmp_path / "working" / "card" / f"{size}").write_bytes(bytes(size))
    (tmp_path / "working" / "card" / "seed-0").write_bytes(b"")
    runner._keep("card")
    assert {path.name for path in (tmp_path / "kept" / "card").iterdir()} == {"1", "5", *map(str, range(10, 18))}


def test_changes_are_changes_and_come_again():
    assert {path.name for path in CORPUS.glob("*")} <= set(TARGETS)
    before = repr(ODD_VALUES)
    for target in TARGETS.values():
        seed = target.seeds()[0]
        made = [mutated(seed, random.Random(number)) for number in range(30)]
        assert sum(changed != seed for changed in made) > 20
        assert made == [mutated(seed, random.Random(number)) for number in range(30)]
    assert repr(ODD_VALUES) == before
    png = pictures()[0]
    assert with_right_sums(png[:30] + bytes([png[30] ^ 1]) + png[31:]) == png  # in the sum of the header


def test_another_exception_or_half_a_sentence_is_a_finding():
    def mumbling(data: bytes) -> None:
        raise InputError("no", "way") if data else KeyError("found")

    with pytest.raises(KeyError):
        outcome(Target(mumbling, list), b"")
    with pytest.raises(AssertionError, match="no sentence"):
        outcome(Target(mumbling, list), b"x")


def test_runs_add_up(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(runner, "RESULTS", tmp_path / "fuzz.json")
    monkeypatch.setattr(runner, "FOUND", tmp_path)
    monkeypatch.setattr(runner, "WORKING", tmp_path / "corpus")
    monkeypatch.setattr(sys, "argv", ["fuzz", "address", "--seconds", "1"])
    assert [runner.main(), runner.main()] == [0, 0]
    found = json.loads((tmp_path / "fuzz.json").read_text())["address"]
    assert found["executions"] > 0
    assert (found["seconds"], found["findings"]) == (2, 0)
    assert "0 findings" in capsys.readouterr().out
