"""One split of one cell is a task. Each runs in a process of its own, on one thread, several side by side.

So a task's memory is its own, and one that dies takes nothing with it. Loading the libraries takes longer than many a
task: a worker loads them once and every task starts as a copy of it.
"""

from __future__ import annotations

import platform
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import torch
from threadpoolctl import threadpool_limits

from bag_generators.errors import InputError
from bag_generators.pool import exit_in_words, in_processes
from elimipl.benchmark.cells import Cell
from elimipl.dataset import BagDataset
from elimipl.methods import METHODS
from elimipl.settings import Settings

_PACKAGES = ("torch", "numpy", "scipy", "scikit-learn")


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
class Outcome:
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
        accuracy = fitted.predict(task.test).accuracy(task.test.labels)
        seconds, cpu_seconds = time.perf_counter() - began, time.process_time() - processor
    if accuracy is None:
        raise InputError("The test bags have no true labels.", "Give the bags their labels.")
    found = fitted.history[-1].disambiguation_accuracy if fitted.history else None
    return {
        "accuracy": accuracy,
        "disambiguation_accuracy": found,
        "seed": config.seed,
        "train_bags": len(task.train),
        "test_bags": len(task.test),
        "seconds": round(seconds, 3),
        "cpu_seconds": round(cpu_seconds, 3),
        "start_mb": start,
        "peak_mb": peak_megabytes(),
        "versions": _versions(),
        "notes": list(getattr(fitted, "notes", ())),
    }


def run_tasks(tasks: Iterable[Task], workers: int) -> Iterator[tuple[Task, Outcome]]:
    """Run the tasks in order, `workers` at a time, and yield each as it ends. `tasks` is asked only when there is room.

    Processes still running when the caller stops iterating, or is killed, are ended.
    """
    return in_processes(_outcome, tasks, workers, in_order=False, one_process_each=True, at_death=_died)


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


def _outcome(task: Task) -> Outcome:
    try:
        return Outcome(run_task(task))
    except Exception as error:
        return Outcome(None, _failure(error))


def _died(exit_code: int) -> Outcome:
    return Outcome(None, f"The process died with {exit_in_words(exit_code)}.")


def _failure(error: Exception) -> str:
    if isinstance(error, InputError):
        return str(error)
    if isinstance(error, MemoryError) or "can't allocate memory" in str(error):
        return "Memory ran out."
    return f"{type(error).__name__}: {error}"


def _versions() -> dict[str, str]:
    versions = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return versions
