"""A training lets everybody's pages go first: people wait for a page, nobody waits for a training to the second."""

import os
import sys
import threading
import time
from contextlib import suppress

NICENESS = 5  # on the scale of `nice`: mild, for a thread that is hardly ever run would hold up others with its locks
LONGEST_REST = 1.0  # seconds; a stop is heard while resting, too


class GiveWay:
    """Made in the thread that trains. After an epoch, `rest` as long as the epoch had to wait for others.

    A training alone on the server never waits and never rests; beside busy pages it takes turns with them.
    """

    def __init__(self) -> None:
        if sys.platform == "linux":  # the only system on which threads have a niceness of their own
            thread = threading.get_native_id()
            with suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, thread, max(NICENESS, os.getpriority(os.PRIO_PROCESS, thread)))
        self._start_counting()

    def rest(self, stop: threading.Event) -> None:
        """Pause; an epoch that was computed in one go needs none."""
        passed, computed = time.monotonic() - self._clock, time.thread_time() - self._computed
        stop.wait(min(max(0.0, passed - computed), LONGEST_REST))
        self._start_counting()

    def _start_counting(self) -> None:
        self._clock, self._computed = time.monotonic(), time.thread_time()
