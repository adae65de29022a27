"""The results file: read whole or refused, shared by two runs, one line a split."""

import json
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from bag_generators.base.errors import InputError
from elimipl.benchmark.cells import Cell
from elimipl.benchmark.records import Records
from elimipl.config import Config

CELL = Cell("birdsong", 1, "ELIMIPL")
BAGS = {"sha256": "ab"}


def split(accuracy: float, **more: object) -> dict[str, object]:
    return {"accuracy": accuracy, "seconds": 2.0, "train_bags": 7, "test_bags": 3, **more}


@pytest.mark.parametrize("content", ["{", "[]", '{"cells": {"a": {}}}', '{"cells": [1]}'])
def test_a_damaged_file_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "benchmark.json").write_text(content)
    with pytest.raises(InputError, match=r"[Tt]he results file .* Move it away"):
        Records(tmp_path / "benchmark.json")


def test_mean_and_deviation_are_those_of_the_splits(tmp_path: Path) -> None:
    records = Records(tmp_path / "benchmark.json")
    for index, accuracy in enumerate((0.5, 0.7, 0.9)):
        told = {"peak_mb": 100 if index else None, "notes": [f"Used {index + 10} inducing points."]}
        records.add(CELL, Config(), BAGS, index, split(accuracy, **told))
    measured = Records(tmp_path / "benchmark.json").measured(CELL)
    assert measured is not None
    assert measured.mean == pytest.approx(0.7)
    assert measured.std == pytest.approx((0.08 / 3) ** 0.5)
    assert (measured.average("seconds"), measured.average("peak_mb"), measured.average("cpu_seconds")) == (2, 100, None)
    assert measured.notes == ("Used 10 inducing points.",)


def test_two_runs_can_share_a_file(tmp_path: Path) -> None:
    first, second = (Records(tmp_path / "benchmark.json") for _ in range(2))
    other = Cell("birdsong", 2, "DEMIPL")
    first.add(CELL, Config(), BAGS, 0, split(0.5))
    second.add(other, Config(), BAGS, 0, split(0.6))
    first.add(CELL, Config(), BAGS, 1, split(0.7))
    both = Records(tmp_path / "benchmark.json")
    assert (both.finished(CELL), both.finished(other)) == ({0, 1}, {0})


def add_splits(path: Path, r: int) -> None:
    records = Records(path)
    for index in range(10):
        records.add(Cell("birdsong", r, "ELIMIPL"), Config(), BAGS, index, split(0.5))


def test_runs_that_write_at_the_same_time_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "benchmark.json"
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(partial(add_splits, path), range(1, 5)))
    kept = Records(path)
    assert [len(kept.finished(Cell("birdsong", r, "ELIMIPL"))) for r in range(1, 5)] == [10] * 4


def test_a_split_is_one_line_and_the_file_is_json(tmp_path: Path) -> None:
    records = Records(tmp_path / "benchmark.json")
    records.add(CELL, Config(), BAGS, 10, split(0.5))
    records.add(CELL, Config(), BAGS, 9, split(0.625))
    records.add_failure(CELL, Config(), BAGS, 2, "It “failed”.")
    text = records.path.read_text(encoding="utf-8")
    assert json.loads(text)["cells"][CELL.name]["failures"] == {"2": "It “failed”."}
    assert [line.split(":")[0].strip() for line in text.splitlines() if "accuracy" in line] == ['"9"', '"10"']


def test_settings_that_came_later_count_as_the_preset_has_them(tmp_path: Path) -> None:
    records = Records(tmp_path / "benchmark.json")
    records.add(CELL, Config(), BAGS, 0, split(0.5))
    del records.cells[CELL.name]["settings"]["clip"]
    records.check(CELL, Config(), BAGS)
    with pytest.raises(InputError, match="other settings"):
        records.check(CELL, Config(clip=1.0), BAGS)
