"""Tasks run in processes of their own; what goes wrong in one is a sentence."""

import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from elimipl.benchmark import tasks
from elimipl.benchmark.cells import Cell
from elimipl.benchmark.tasks import SplitOutcome, Task, run_task, run_tasks
from elimipl.config import Config
from elimipl.methods import METHODS
from tests.elimipl.toy_bags import toy_bags

ROOT = Path(__file__).resolve().parents[3]


def task(index: int, method: str = "ELIMIPL", **settings: object) -> Task:
    bags = toy_bags(m=24)
    config = METHODS[method].config(**{"epochs": 2, **settings})
    return Task(Cell("toy", 1, method), index, config, bags.subset(range(16)), bags.subset(range(16, 24)), {})


@pytest.mark.slow
def test_processes_give_what_a_run_here_gives_and_a_failure_stops_nothing() -> None:
    broken = replace(task(1), train=toy_bags(m=24, d=3))
    outcomes = {task.index: outcome for task, outcome in run_tasks([task(0), broken, task(2)], workers=2)}
    for index in (0, 2):
        kept = outcomes[index].split
        assert kept is not None
        assert kept["accuracy"] == run_task(task(index))["accuracy"]
        assert kept["seed"] == index
        assert kept["peak_mb"] >= kept["start_mb"] > 0
    assert outcomes[1].split is None
    assert "features" in outcomes[1].failure


def test_every_method_is_a_task_with_the_number_of_its_split_for_a_seed() -> None:
    first, again, other = run_task(task(0, seed=5)), run_task(task(0, seed=5)), run_task(task(3, seed=5))
    assert (first["seed"], other["seed"]) == (5, 8)
    assert first["accuracy"] == again["accuracy"]
    kept = run_task(task(0, "PRODEN-Mean"))
    assert 0 <= kept["accuracy"] <= 1
    assert (kept["train_bags"], kept["test_bags"]) == (16, 8)


def test_test_bags_without_labels_are_refused() -> None:
    unknown = replace(task(0).test, labels=np.full(8, -1))
    with pytest.raises(ValueError, match="no true labels"):
        run_task(replace(task(0), test=unknown))


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (MemoryError(), "Memory ran out."),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried …"), "Memory ran out."),
        (KeyError("x"), "KeyError: 'x'"),
    ],
)
def test_lack_of_memory_is_called_so(error: Exception, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(tasks, "run_task", fail)
    assert tasks._outcome(task(0)) == SplitOutcome(None, said)


class _Dying(Config):
    def replace(self, **changes: object) -> Config:
        os._exit(3)


@pytest.mark.slow
def test_a_process_that_dies_leaves_a_sentence() -> None:
    ((_, outcome),) = run_tasks([replace(task(0), config=_Dying())], workers=1)
    assert outcome == SplitOutcome(None, "The process died with exit code 3: it left no message.")


class _Endless(Config):
    """A task that never ends; it says when it has begun."""

    def replace(self, **changes: object) -> Config:
        sys.stderr.write("begun\n")  # workers have no stdout
        sys.stderr.flush()
        time.sleep(600)
        raise AssertionError


def run_an_endless_task() -> None:
    list(run_tasks([replace(task(0), config=_Endless())], workers=1))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there is no kill -9")
def test_no_task_outlives_a_benchmark_that_is_killed() -> None:
    script = f"import {__name__} as tasks; tasks.run_an_endless_task()"
    with subprocess.Popen([sys.executable, "-c", script], cwd=ROOT, stderr=subprocess.PIPE, text=True) as victim:
        assert victim.stderr is not None
        assert victim.stderr.readline() == "begun\n"
        victim.kill()
        victim.communicate(timeout=60)  # ends when the last process that could print is gone
