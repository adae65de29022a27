"""One split of one cell is a task. Each runs in a process of its own, on one thread, several side by side.

So a task's memory is its own, and one that dies takes nothing with it. Loading the libraries takes longer than many a
task: on Linux one process loads them and every task starts as a copy of it.
"""

from __future__ import annotations

import multiprocessing
import os
import platform
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkServerContext, SpawnContext
from multiprocessing.process import BaseProcess
from pathlib import Path
from threading import Thread
from typing import Any

import torch
from threadpoolctl import threadpool_limits

from bag_generators.errors import InputError
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
    waiting = iter(tasks)
    running: dict[Connection, tuple[Task, BaseProcess]] = {}
    try:
        while True:
            while len(running) < workers and (task := next(waiting, None)) is not None:
                receiver, process = _start(task)
                running[receiver] = task, process
            if not running:
                return
            for ready in wait(list(running)):
                assert isinstance(ready, Connection)
                task, process = running.pop(ready)
                yield task, _outcome(ready, process)
    finally:
        for _, process in running.values():
            process.terminate()


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


def _start(task: Task) -> tuple[Connection, BaseProcess]:
    context = _context()
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(task, sender), daemon=True)
    process.start()
    sender.close()
    return receiver, process


@lru_cache(maxsize=1)
def _context() -> SpawnContext | ForkServerContext:
    if sys.platform != "linux":
        return multiprocessing.get_context("spawn")
    # A library that has started threads can't be copied; with one thread none of them does.
    os.environ.update({"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"})
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    return context


def _work(task: Task, sender: Connection) -> None:
    Thread(target=_end_with_parent, daemon=True).start()
    try:
        sender.send(Outcome(run_task(task)))
    except KeyboardInterrupt:
        return
    except Exception as error:
        sender.send(Outcome(None, _told(error)))


def _end_with_parent() -> None:
    """A benchmark that is killed can't end its processes; they would work on for nobody."""
    if (parent := multiprocessing.parent_process()) is not None:
        parent.join()
        os._exit(1)


def _outcome(receiver: Connection, process: BaseProcess) -> Outcome:
    try:
        outcome: Outcome = receiver.recv()
    except EOFError:
        process.join()
        why = "most likely memory ran out" if process.exitcode == -9 else "it left no message"
        outcome = Outcome(None, f"The process died with exit code {process.exitcode}: {why}.")
    receiver.close()
    process.join()
    return outcome


def _told(error: Exception) -> str:
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
