"""A few seconds of fuzzing of every reader, the same files each time; `make fuzz` goes on for minutes."""

import json
import os
import random
import sys
from collections.abc import Iterator

import pytest

from bag_generators.errors import InputError
from fuzz import __main__ as runner
from fuzz.mutations import ODD_VALUES, mutated, with_right_sums
from fuzz.seeds import CORPUS, kept, pictures
from fuzz.targets import TARGETS, outcome
from fuzz.unguided import fuzz

EXAMPLES = 150


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
    assert 0 < fuzz(name, EXAMPLES) <= EXAMPLES


@pytest.mark.parametrize("name", list(TARGETS))
def test_the_files_that_changes_start_from_are_sound(name):
    refusals = [refusal for seed in TARGETS[name].seeds() if (refusal := outcome(TARGETS[name], seed)) is not None]
    expected = {"tile-zip": ["packed in an unusual way"], "matlab": ["not a cell array"]}.get(name, [])
    assert len(refusals) == len(expected)
    assert all(words in str(refusal) for words, refusal in zip(expected, refusals, strict=True))


@pytest.mark.filterwarnings("ignore:We do not support byte ordering:UserWarning")
@pytest.mark.parametrize("name", list(TARGETS))
def test_what_earlier_runs_kept_gives_no_more_than_sentences(name, no_chatter):
    files = kept(name)
    for content in files:
        outcome(TARGETS[name], content)
    assert len(files) <= runner.MOST_KEPT
    assert all(len(content) <= runner.LARGEST_KEPT for content in files)


def test_only_readers_have_kept_files():
    assert {path.name for path in CORPUS.glob("*")} <= set(TARGETS)


def test_runs_add_up(monkeypatch, tmp_path):
    monkeypatch.setattr(runner, "RESULTS", tmp_path / "fuzz.json")
    for number in (2, 3):
        runner._add_up("card", "atheris", {"executions": number, "seconds": 10, "findings": 3 - number})
    found = json.loads((tmp_path / "fuzz.json").read_text())["card"]
    assert (found["executions"], found["seconds"], found["findings"]) == (5, 20, 0)
    assert found["first"] <= found["last"]


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
    for target in TARGETS.values():
        seed = target.seeds()[0]
        made = [mutated(seed, random.Random(number)) for number in range(30)]
        assert sum(changed != seed for changed in made) > 20
        assert made == [mutated(seed, random.Random(number)) for number in range(30)]


def test_values_to_choose_from_stay_as_they_are():
    before = repr(ODD_VALUES)
    for number in range(300):
        mutated(TARGETS["card"].seeds()[0], random.Random(number))
    assert repr(ODD_VALUES) == before


def test_mended_sums_make_a_changed_png_pass_the_first_check():
    png = pictures()[0]
    changed = bytearray(png)
    changed[30] ^= 1  # in the sum of the header
    assert with_right_sums(bytes(changed)) == png


def test_another_exception_is_not_taken_for_a_sentence(monkeypatch):
    def broken(_data: bytes) -> None:
        raise KeyError("found")

    monkeypatch.setitem(TARGETS, "card", type(TARGETS["card"])(broken, lambda: [b"{}"]))
    with pytest.raises(KeyError):
        fuzz("card", 5)


def test_half_a_sentence_is_a_finding():
    def mumbling(_data: bytes) -> None:
        raise InputError("no", "way")

    with pytest.raises(AssertionError, match="no sentence"):
        outcome(type(TARGETS["card"])(mumbling, list), b"")


def test_the_runner_works_without_atheris(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(runner.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(runner, "RESULTS", tmp_path / "fuzz.json")
    monkeypatch.setattr(runner, "FOUND", tmp_path)
    monkeypatch.setattr(sys, "argv", ["fuzz", "bag-file", "--seconds", "1"])
    assert runner.main() == 0
    assert "fuzzing with hypothesis" in capsys.readouterr().out
    assert '"findings": 0' in (tmp_path / "fuzz.json").read_text()
