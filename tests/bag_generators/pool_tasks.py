"""What the workers of `test_pool` do: functions they can import."""

import os
import signal
import sys
import time
from pathlib import Path

from bag_generators import uploads
from bag_generators.base.errors import InputError
from bag_generators.base.pool import in_processes

seen: list[int] = []


def square(task: int) -> int:
    return task * task


def zero_waits(file: Path, task: int) -> int:
    while task == 0 and not file.exists():
        time.sleep(0.01)
    return task


def scaled(factor: int, shift: int, task: int) -> int:
    return factor * task + shift


def refuse(task: int) -> int:
    raise InputError(f"Task {task} is refused.", "Give another.")


def divide(task: int) -> float:
    return 1 / task


def unsendable(task: int) -> object:
    return lambda: task


def exit_on_two(task: int) -> int:
    if task == 2:
        os._exit(5)
    return task


def remember(task: int) -> tuple[int, int, int, int]:
    """Process, its parent, tasks seen before in it, threads of the libraries."""
    seen.append(task)
    return os.getpid(), os.getppid(), len(seen) - 1, int(os.environ["OMP_NUM_THREADS"])


def process_number(task: object) -> int:
    return os.getpid()


def sleep(seconds: float) -> None:
    time.sleep(seconds)


def with_little_memory(question: uploads.ReadTask) -> object:
    uploads.MOST_READER_BYTES = 20 * 2**20
    return uploads.carry_out(question)


def die_on_empty(question: uploads.ReadTask) -> object:
    if not question.data:
        os.kill(os.getpid(), signal.SIGKILL)
    return uploads.carry_out(question)


def linger(task: int) -> None:
    sys.stderr.write("begun\n")
    sys.stderr.flush()
    time.sleep(600)


def run_lingering() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # programs started in the background ignore it
    try:
        list(in_processes(linger, [1], 1))
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
