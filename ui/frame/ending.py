"""What computes in threads ends before the server does: a thread that is cut off in torch aborts the process."""

import time
from collections.abc import Iterable
from typing import Protocol

ENDING_PATIENCE = 60.0
"""Seconds for all together; beside other programs an epoch and its model take some. Ctrl-C ends the waiting."""


class Worker(Protocol):
    """Something that computes in a thread of its own until it is asked to end."""

    def ask_to_end(self) -> None:
        """Let it end as soon as it can, without waiting for it."""

    def join(self, seconds: float) -> None:
        """Wait for its end, not longer than `seconds`."""


def end_all(workers: Iterable[Worker]) -> None:
    """Ask all of them first, then wait for each: how busy the machine is must not decide who is cut off."""
    asked = list(workers)
    for worker in asked:
        worker.ask_to_end()
    deadline = time.monotonic() + ENDING_PATIENCE
    for worker in asked:
        worker.join(max(0.0, deadline - time.monotonic()))
