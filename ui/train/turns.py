"""Whose turn it is to train: a few at once, the others in line, and nobody holds a turn for long while others wait."""

import threading
import time
from collections.abc import Callable

from bag_generators import InputError

AT_ONCE = 2
SLICE_SECONDS = 20.0  # of a turn, while others wait
MOST_WAITING = 12
_LOOK_SECONDS = 0.2  # how often somebody in line asks whether to go on waiting


class Turns:
    """The line of all trainings of a server. A run is any object; its owner is the visitor who started it.

    Turns go by the order in line, first to visitors who have none. After an epoch a run calls `give_way`: when its
    time is up and others wait, it goes to the end of the line and waits there for its next turn.
    """

    def __init__(self, at_once: int = AT_ONCE, slice_seconds: float = SLICE_SECONDS, most: int = MOST_WAITING) -> None:
        self._at_once, self._slice, self._most = at_once, slice_seconds, most
        self._line: list[object] = []
        self._training: dict[object, float] = {}
        self._owners: dict[object, str] = {}
        self._changed = threading.Condition()

    def join(self, run: object, owner: str) -> None:
        """Stand in line; an `InputError` where it is too long."""
        with self._changed:
            if len(self._line) >= self._most:
                raise InputError(
                    f"{len(self._training)} trainings run on this server and {len(self._line)} wait for their turn.",
                    "Try again in some minutes.",
                )
            self._owners[run] = owner
            self._line.append(run)
            self._call_up()

    def leave(self, run: object) -> None:
        """Make room for the next; whoever has left already may leave again."""
        with self._changed:
            self._training.pop(run, None)
            if run in self._line:
                self._line.remove(run)
            self._owners.pop(run, None)
            self._call_up()

    def place(self, run: object) -> int:
        """Place in line, from 1; 0 for a run whose turn it is."""
        with self._changed:
            return self._order().index(run) + 1 if run in self._line else 0

    def waiting(self) -> int:
        """How many stand in line."""
        with self._changed:
            return len(self._line)

    def await_turn(self, run: object, is_over: Callable[[], bool]) -> None:
        """Return when it is the run's turn, or when `is_over` says that it no longer wants one."""
        with self._changed:
            while run in self._line and not is_over():
                self._changed.wait(_LOOK_SECONDS)

    def give_way(self, run: object, is_over: Callable[[], bool]) -> None:
        """Wait at the end of the line when the time of the run's turn is up and others wait."""
        with self._changed:
            since = self._training.get(run)
            if since is None or not self._line or time.monotonic() - since < self._slice:
                return
            del self._training[run]
            self._line.append(run)
            self._call_up()
        self.await_turn(run, is_over)

    def _order(self) -> list[object]:
        """The line as it will be called up: visitors whose other runs are training come last."""
        busy = {self._owners[run] for run in self._training}
        return sorted(self._line, key=lambda run: self._owners[run] in busy)

    def _call_up(self) -> None:
        while self._line and len(self._training) < self._at_once:
            run = self._order()[0]
            self._line.remove(run)
            self._training[run] = time.monotonic()
        self._changed.notify_all()


SERVER_LINE = Turns()
"""The line in which everything stands that trains on this server."""
