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
from elimipl.benchmark.tasks import (
    SplitOutcome,
    Task,
    attention_on_positives,
    calibration_error,
    run_task,
    run_tasks,
)
from elimipl.candidates.labels import LabelSpace
from elimipl.config import Config
from elimipl.datasets.dataset import BagDataset
from elimipl.methods import METHODS
from elimipl.model.inference import Predictions
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


def test_attention_is_held_against_known_positives_and_against_an_untrained_network() -> None:
    bags = toy_bags(m=48)
    first = np.zeros(len(bags.instances), bool)
    first[bags.offsets[:-1]] = True
    known = replace(bags, instance_truth=first)
    parts = {"train": known.subset(range(32)), "test": known.subset(range(32, 48))}
    kept = run_task(replace(task(0, epochs=60), **parts))
    assert kept["attention_auroc"] > kept["untrained_attention_auroc"] > 0
    assert kept["attention_precision"] > kept["untrained_attention_precision"] > 0
    again = run_task(replace(task(0, epochs=3), **parts))
    assert again["untrained_attention_auroc"] == pytest.approx(kept["untrained_attention_auroc"])
    assert "attention_auroc" not in run_task(task(0))
    assert "attention_auroc" not in run_task(replace(task(0, "PRODEN-Mean"), **parts))


def test_attention_scores_are_means_over_bags() -> None:
    bags = BagDataset.from_bags(
        [np.zeros((3, 1)), np.zeros((2, 1))],
        LabelSpace.of("AB", id="two"),
        labels=[0, 1],
        instance_truth=[[True, False, False], [True, False]],
    )
    said = Predictions(np.full((2, 2), 0.5), np.array([0.3, 0.5, 0.2, 0.9, 0.1]))
    assert attention_on_positives(said, bags) == pytest.approx(
        {"attention_auroc": (0.5 + 1) / 2, "attention_precision": (0.5 + 1) / 2}
    )


def test_calibration_error_is_that_of_a_loop_over_fifteen_bins() -> None:
    rng = np.random.default_rng(0)
    probabilities, labels = rng.dirichlet(np.ones(3), 200), rng.integers(0, 3, 200)
    probabilities[0] = [1, 0, 0]
    error, sure = 0.0, probabilities.max(axis=1)
    for i in range(15):
        inside = (sure >= i / 15) & ((sure < (i + 1) / 15) | (i == 14))
        if inside.any():
            right = probabilities[inside].argmax(axis=1) == labels[inside]
            error += inside.mean() * abs(sure[inside].mean() - right.mean())
    assert calibration_error(probabilities, labels) == pytest.approx(error)


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
