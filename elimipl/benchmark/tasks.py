"""One split of one cell is a task. Each runs in a process of its own, on one thread, several side by side.

So a task's memory is its own, and one that dies takes nothing with it. Loading the libraries takes longer than many a
task: a worker loads them once and every task starts as a copy of it.
"""

from __future__ import annotations

import platform
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import torch
from threadpoolctl import threadpool_limits

from bag_generators.base.errors import InputError
from bag_generators.base.pool import exit_in_words, in_processes
from elimipl.answers.trust import auroc, average_precision
from elimipl.benchmark.cells import Cell
from elimipl.benchmark.records import Records
from elimipl.benchmark.settings import settings_of
from elimipl.benchmark.sources import Shelf
from elimipl.config import Settings
from elimipl.datasets.dataset import BagDataset
from elimipl.methods import METHODS
from elimipl.model.inference import Predictions

BINS = 15
_PACKAGES = ("torch", "numpy", "scipy", "scikit-learn")
_NO_STEP = 1e-9
"""The least learning rate there is: what one epoch of it leaves is the untrained network."""


@dataclass(frozen=True, eq=False)
class Task:
    """What a process has to do: learn from some bags, be tested on others."""

    cell: Cell
    index: int
    config: Settings
    train: BagDataset
    test: BagDataset
    bags: Mapping[str, Any]
    """What the results file keeps of the bags."""
    device: str = "cpu"


@dataclass(frozen=True)
class SplitOutcome:
    """What came of a task: the entry of the results file, or a sentence on why there is none."""

    split: dict[str, Any] | None
    failure: str = ""


def run_task(task: Task) -> dict[str, Any]:
    """Train and test here and now; the entry of the results file. Split i trains with seed `config.seed` + i."""
    torch.set_num_threads(1)
    config = task.config.replace(seed=task.config.seed + task.index)
    start = peak_megabytes()
    with threadpool_limits(1):
        began, processor = time.perf_counter(), time.process_time()
        fitted = METHODS[task.cell.method].fit(task.train, config, device=task.device)
        predictions = fitted.predict(task.test)
        seconds, cpu_seconds = time.perf_counter() - began, time.process_time() - processor
    accuracy = predictions.accuracy(task.test.labels)
    if accuracy is None:
        raise InputError("The test bags have no true labels.", "Give the bags their labels.")
    found_positives = attention_on_positives(predictions, task.test)
    if found_positives and {"epochs", "lr"} <= type(config).model_fields.keys():
        still = config.replace(epochs=1, lr=_NO_STEP)
        with threadpool_limits(1):
            floor = METHODS[task.cell.method].fit(task.train, still, device=task.device).predict(task.test)
        found_positives |= {
            f"untrained_{name}": kept for name, kept in attention_on_positives(floor, task.test).items()
        }
    found = fitted.history[-1].disambiguation_accuracy if fitted.history else None
    return {
        "accuracy": accuracy,
        "disambiguation_accuracy": found,
        "calibration_error": calibration_error(predictions.probabilities, task.test.labels),
        **found_positives,
        "seed": config.seed,
        "train_bags": len(task.train),
        "test_bags": len(task.test),
        "seconds": round(seconds, 3),
        "cpu_seconds": round(cpu_seconds, 3),
        "start_mb": start,
        "peak_mb": peak_megabytes(),
        "versions": {"python": platform.python_version(), **{package: version(package) for package in _PACKAGES}},
        "notes": list(getattr(fitted, "notes", ())),
    }


def calibration_error(probabilities: np.ndarray, labels: np.ndarray) -> float:
    """Mean distance of confidence and accuracy over 15 bins of equal width, as CDL's authors report it.

    (`elimipl.cards` has bins of equally many bags, which say more of few bags but can't be held against theirs.)
    """
    confidence, right = probabilities.max(axis=1), probabilities.argmax(axis=1) == labels
    bin_of = np.minimum((confidence * BINS).astype(int), BINS - 1)
    return float(np.abs(np.bincount(bin_of, weights=confidence - right)).sum() / len(labels))


def attention_on_positives(predictions: Predictions, bags: BagDataset) -> dict[str, float]:
    """AUROC and average precision of the attention against a bag's positive instances, means over the bags.

    Empty where a method has no attention, or where nobody knows which instances are positive.
    """
    if predictions.attention is None or bags.instance_truth is None:
        return {}
    pairs = [
        (bags.instance_truth[a:b], predictions.attention[a:b])
        for a, b in zip(bags.offsets[:-1], bags.offsets[1:], strict=True)
    ]
    areas = [area for truth, scores in pairs if (area := auroc(truth, scores)) is not None]
    precisions = [average_precision(truth, scores) for truth, scores in pairs if truth.any()]
    if not areas:
        return {}
    return {"attention_auroc": float(np.mean(areas)), "attention_precision": float(np.mean(precisions))}


def run_tasks(tasks: Iterable[Task], workers: int) -> Iterator[tuple[Task, SplitOutcome]]:
    """Run the tasks in order, `workers` at a time, and yield each as it ends. `tasks` is asked only when there is room.

    Processes still running when the caller stops iterating, or is killed, are ended.
    """

    def died(exit_code: int) -> SplitOutcome:
        return SplitOutcome(None, f"The process died with {exit_in_words(exit_code)}.")

    return in_processes(_outcome, tasks, workers, in_order=False, one_process_each=True, at_death=died)


def peak_megabytes() -> int | None:
    """The most memory this process has held so far; None where the system doesn't tell."""
    status = Path("/proc/self/status")
    if status.exists():  # getrusage also counts the process that started this one
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return round(int(line.split()[1]) / 1024)
    if sys.platform == "win32":
        return None
    import resource  # not on Windows

    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10))


def _outcome(task: Task) -> SplitOutcome:
    try:
        return SplitOutcome(run_task(task))
    except InputError as error:
        return SplitOutcome(None, str(error))
    except Exception as error:
        if isinstance(error, MemoryError) or "can't allocate memory" in str(error):
            return SplitOutcome(None, "Memory ran out.")
        return SplitOutcome(None, f"{type(error).__name__}: {error}")


def to_do(cells: Sequence[Cell], splits: int, records: Records) -> list[tuple[Cell, int]]:
    """The splits that are not finished: split 0 of every cell before split 1 of any, cheap cells first.

    Cells with the same bags follow each other.
    """
    left = [(cell, index) for cell in cells for index in range(splits) if index not in records.finished(cell)]
    return sorted(left, key=lambda todo: (todo[1], todo[0].cost, todo[0].data, todo[0].r))


def config_of(cell: Cell) -> Settings:
    """The settings of a cell; split i adds i to the seed."""
    config: Settings = METHODS[cell.method].config(**settings_of(cell))
    return config


@dataclass
class Session:
    """Runs splits and notes them; whatever goes wrong becomes a sentence in `problems` and stops nothing else."""

    records: Records
    shelf: Shelf
    workers: int = 1
    device: str = "cpu"
    problems: list[str] = field(default_factory=list)

    def run(self, todo: Sequence[tuple[Cell, int]]) -> Iterator[tuple[Task, SplitOutcome]]:
        """Each split as it ends, noted already."""
        for task, outcome in run_tasks(self._tasks(todo), self.workers):
            if outcome.split is None:
                self.records.add_failure(task.cell, task.config, task.bags, task.index, outcome.failure)
                self.problems.append(f"{task.cell.name}, split {task.index}: {outcome.failure}")
            else:
                self.records.add(task.cell, task.config, task.bags, task.index, outcome.split)
            yield task, outcome

    def _tasks(self, todo: Sequence[tuple[Cell, int]]) -> Iterator[Task]:
        left_out: set[Cell] = set()
        for cell, index in todo:
            if cell in left_out:
                continue
            try:
                config, bags = config_of(cell), self.shelf.bags_of(cell)
                self.records.check(cell, config, bags.described)
            except InputError as error:
                left_out.add(cell)
                self.problems.append(f"{cell.name} is left out. {error}")
                continue
            if index < len(bags.splits):
                yield Task(cell, index, config, *bags.parts(index), bags.described, self.device)
