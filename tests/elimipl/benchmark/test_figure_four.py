"""What our means say to the paper's three observations on its Figure 4."""

from pathlib import Path

import pytest

from elimipl.benchmark.cells import Cell
from elimipl.benchmark.claims import phenomena
from elimipl.benchmark.records import Records
from elimipl.config import Config


@pytest.fixture
def records(tmp_path: Path) -> Records:
    return Records(tmp_path / "benchmark.json")


def add(records: Records, method: str, accuracies: dict[int, float]) -> None:
    for r, accuracy in accuracies.items():
        records.add(Cell("birdsong", r, method), Config(), {"sha256": ""}, 0, {"accuracy": accuracy})


def found(records: Records) -> list[str]:
    return [told for _, told in phenomena(records)]


def test_as_the_paper_has_it(records: Records) -> None:
    every = range(1, 11)
    add(records, "ELIMIPL", dict.fromkeys(every, 0.9))
    add(records, "DEMIPL", {r: 0.8 if r < 7 else 0.5 for r in every})
    add(records, "MIPLGP", dict.fromkeys(every, 0.7))
    assert found(records) == [
        "So it is here, at r = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10.",
        "So it is here, at r = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10.",
        "So it is here: +.340 against +.100 on average.",
    ]


def test_what_is_otherwise_and_what_was_not_run_is_told(records: Records) -> None:
    add(records, "ELIMIPL", {1: 0.9})
    add(records, "DEMIPL", {1: 0.8})
    told = "Not all of them have been run here."
    assert found(records) == [told, told, "Here not all r have been run."]
    every = range(1, 11)
    add(records, "ELIMIPL", {r: 0.7 if r == 2 else 0.9 - r / 100 for r in every})
    add(records, "DEMIPL", dict.fromkeys(every, 0.75))
    add(records, "MIPLGP", dict.fromkeys(every, 0.76))
    assert found(records) == [
        "So it is here at r = 1, 3, 4, 5, 6, 7, 8, 9, 10, not at r = 2.",
        "So it is here at r = 7, 8, 9, 10, not at r = 1, 2, 3, 4, 5, 6.",
        "Not so here: +.070 against +.084 on average.",
    ]
