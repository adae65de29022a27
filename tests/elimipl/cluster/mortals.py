"""What kills workers: tasks and generators that the processes of a cluster can import."""

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import psutil

from bag_generators.base.errors import InputError
from bag_generators.generator import Generator
from bag_generators.regions import BoxRegions
from elimipl.slides.mapping import RowStore


def scaled(factor: int, task: int) -> int:
    return factor * task


def slowly(task: int) -> int:
    """So that tasks end one after the other."""
    time.sleep(0.02)
    return task


def refuses_two(task: int) -> int:
    if task == 2:
        raise InputError("Task 2 is refused.", "Give another.")
    return task


def kills_once(marker: Path, task: int) -> int:
    """The worker that first gets task 1 is killed."""
    if task == 1 and not marker.exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return task


def always_kills_on_one(task: int) -> int:
    if task == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return task


def dies_after_a_row(marker: Path) -> None:
    """From now on the first of the workers that has kept a row of a map is killed."""
    keep = RowStore.save

    def keep_and_die(store: RowStore, *row: object) -> None:
        keep(store, *row)
        with suppress(FileExistsError):
            marker.touch(exist_ok=False)
            os.kill(os.getpid(), signal.SIGKILL)

    RowStore.save = keep_and_die


def worker_above() -> int:
    """The worker of the cluster that started this reading process; never another process."""
    parent = psutil.Process(os.getppid())
    assert any("multiprocessing" in word for word in parent.cmdline()), parent
    return parent.pid


def mean_colour(pixels: np.ndarray, shape: tuple[int, int], victim: str = "", marker: str = "") -> tuple:
    """The mean colour; a black picture kills the reading process or the worker itself, only once with a marker."""
    if victim and not pixels.any() and not (marker and Path(marker).exists()):
        if marker:
            Path(marker).touch()
        os.kill(os.getpid() if victim == "reader" else worker_above(), signal.SIGKILL)
    return pixels.mean(axis=(0, 1))[None], BoxRegions([(0, 0, shape[1], shape[0])], shape)


GENERATOR = Generator(
    "mortal", "Mortal", "The mean colour.", ("red", "green", "blue"), mean_colour, {"victim": "", "marker": ""}
)
