"""The benchmark command: it resumes, it refuses to mix settings, it says what is missing and what failed."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from elimipl.benchmark import tasks
from elimipl.benchmark.tasks import SplitOutcome, run_task
from elimipl.commands import main
from elimipl.methods import METHODS, network_method, register_method

Run = Callable[..., int]
TWO = ("--table", "2", "--methods", "ELIMIPL", "PRODEN-Mean")


def cells(folder: Path) -> dict:
    return json.loads((folder / "benchmark.json").read_text(encoding="utf-8"))["cells"]


def accuracies(folder: Path) -> dict[str, dict[str, float]]:
    return {name: {i: split["accuracy"] for i, split in cell["splits"].items()} for name, cell in cells(folder).items()}


def test_a_stopped_run_goes_on_and_ends_as_an_uninterrupted_one(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*TWO, "--splits", "2", results="whole") == 0
    ran = []

    def stopped_at_the_eighth(tasks, workers):
        for task in tasks:
            ran.append((task.index, task.cell.name))
            if len(ran) == 8:
                raise KeyboardInterrupt
            yield task, SplitOutcome(run_task(task))

    monkeypatch.setattr(tasks, "run_tasks", stopped_at_the_eighth)
    assert run(*TWO, "--splits", "2", results="stopped") == 130
    assert "Stopped" in capsys.readouterr().err
    assert run(*TWO, "--splits", "2", results="stopped") == 0
    assert len(ran) == 12 + 1
    assert len(set(ran)) == 12
    assert accuracies(tmp_path / "whole") == accuracies(tmp_path / "stopped")
    assert all(list(splits) == ["0", "1"] for splits in accuracies(tmp_path / "whole").values())


def test_every_split_is_kept_with_what_it_takes_to_run_it_again(run: Run, tmp_path: Path) -> None:
    run(*TWO, "--splits", "2", "--r", "2")
    kept = cells(tmp_path / "results")["birdsong r=2 ELIMIPL"]
    assert (kept["data"], kept["r"], kept["method"]) == ("birdsong", 2, "ELIMIPL")
    assert kept["settings"]["hidden"] == 4
    assert kept["bags"]["r"] == 2
    split = kept["splits"]["1"]
    assert split["seed"] == 1
    assert (split["train_bags"], split["test_bags"]) == (39, 13)
    assert split["peak_mb"] > 0
    assert {"python", "torch", "numpy"} <= set(split["versions"])


def test_the_tables_asked_for_are_printed_and_can_be_without_a_run(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run("--table", "2", "--methods", "PRODEN-Mean", "--r", "1", "--splits", "1")
    ran = capsys.readouterr().out
    assert "| 1 | ELIMIPL | not run | .771±.018 |" in ran
    before = cells(tmp_path / "results")
    assert run("--table", "2", "--show") == 0
    shown = capsys.readouterr().out
    assert shown.strip() in ran
    assert "## Table 2" in shown
    assert "Table 3" not in shown
    assert cells(tmp_path / "results") == before


def test_missing_data_is_named_with_the_way_to_get_it(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--table", "5", "--table", "3", "--methods", "CE", "DEMIPL", "--splits", "1", "--r", "1", "0") == 0
    said = capsys.readouterr().err
    assert "torchvision.datasets.MNIST" in said
    assert "dataset-fashion-mnist" in said
    assert said.count("no tiles of lesion5") == 1
    assert "authors" not in said


def test_splits_of_other_settings_are_never_averaged_in(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(*TWO, "--r", "1", "--splits", "1")
    monkeypatch.setattr(tasks, "settings_of", lambda cell: {"epochs": 3})
    assert run(*TWO, "--r", "1", "--splits", "2") == 1
    said = capsys.readouterr().err
    assert "birdsong r=1 ELIMIPL is left out." in said
    assert "PRODEN-Mean with other settings" in said
    assert all(list(splits) == ["0"] for splits in accuracies(tmp_path / "results").values())


def test_splits_with_a_setting_that_is_gone_are_never_averaged_in(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(*TWO, "--r", "1", "--splits", "1")
    path = tmp_path / "results/benchmark.json"
    path.write_text(path.read_text().replace('"nesterov"', '"nestorov"').replace('"backbone"', '"backbean"'))
    assert run(*TWO, "--r", "1", "--splits", "2") == 1
    assert capsys.readouterr().err.count("with other settings") == 2


def test_splits_of_other_bags_are_never_averaged_in(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(*TWO, "--r", "1", "--splits", "1")
    path = tmp_path / "results/benchmark.json"
    kept = cells(tmp_path / "results")
    kept["birdsong r=1 ELIMIPL"]["bags"]["sha256"] = "0" * 64
    path.write_text(json.dumps({"cells": kept}))
    assert run(*TWO, "--r", "1", "--splits", "2") == 1
    assert "ELIMIPL with other bags" in capsys.readouterr().err
    assert list(accuracies(tmp_path / "results")["birdsong r=1 PRODEN-Mean"]) == ["0", "1"]


def test_a_failing_split_is_told_and_stops_nothing_and_is_tried_again(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def failing(tasks, workers):
        for task in tasks:
            failed = task.cell.method == "ELIMIPL"
            yield task, SplitOutcome(None, "Memory ran out.") if failed else SplitOutcome(run_task(task))

    with monkeypatch.context() as patched:
        patched.setattr(tasks, "run_tasks", failing)
        assert run(*TWO, "--r", "1", "--splits", "1") == 1
    assert "birdsong r=1 ELIMIPL, split 0: Memory ran out." in capsys.readouterr().err
    kept = cells(tmp_path / "results")
    assert kept["birdsong r=1 ELIMIPL"]["failures"] == {"0": "Memory ran out."}
    assert list(kept["birdsong r=1 PRODEN-Mean"]["splits"]) == ["0"]
    assert "| Memory ran out. |" in (tmp_path / "results/benchmark.md").read_text(encoding="utf-8")
    assert run(*TWO, "--r", "1", "--splits", "1") == 0
    assert cells(tmp_path / "results")["birdsong r=1 ELIMIPL"]["failures"] == {}
    assert "Memory" not in (tmp_path / "results/benchmark.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ((), "Nothing was asked for"),
        (("--table", "1"), "invalid choice"),
        (("--table", "2", "--splits", "11"), "Ask for 1 to 10"),
        (("--table", "2", "--workers", "0"), "at least 1"),
        (("--table", "2", "--methods", "ELIMPL"), "no method “ELIMPL”"),
        (("--table", "2", "--only", "cifar"), "no data set “cifar”"),
        (("--table", "2", "--mat", "nowhere"), "no folder “nowhere”"),
        (("--table", "2", "--device", "tpu"), "no device 'tpu'"),
        (("--table", "4", "--only", "mnist"), "Nothing of what was asked for"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_a_sentence(
    given: tuple[str, ...], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        code = main(["benchmark", *given])
    except SystemExit as ended:
        code = ended.code
    assert code == 2
    assert told in capsys.readouterr().err


def test_a_registered_method_joins_the_tables_where_it_is_named(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    register_method(network_method("Narrow", "A narrow embedding.", hidden=4, epochs=1))
    monkeypatch.setattr(tasks, "run_tasks", lambda tasks, _: ((task, SplitOutcome(run_task(task))) for task in tasks))
    try:
        assert run("--table", "2", "--methods", "Narrow", "--splits", "1", "--r", "1") == 0
        assert run("--table", "2", "--methods", "PRODEN-Mean", "--splits", "1", "--r", "1") == 0
    finally:
        METHODS.unregister("Narrow")
    assert {kept["method"] for kept in cells(tmp_path / "results").values()} == {"Narrow", "PRODEN-Mean"}
    report = (tmp_path / "results" / "benchmark.md").read_text(encoding="utf-8")
    assert "registered methods" in report
    assert "| 1 | Narrow | " in report
