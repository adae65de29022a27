"""What several threads ask of one network, computed together: a GPU takes a thousand patches in the time of ten."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future

import numpy as np


class Gathering:
    """Calls of a function of rows from several threads become few calls with many rows.

    Whoever finds nobody computing takes all that waits along; what comes meanwhile waits for the next one.
    """

    def __init__(self, compute: Callable[[np.ndarray], np.ndarray], at_once: int) -> None:
        self._compute, self._at_once = compute, at_once
        self._turn, self._lock = threading.Lock(), threading.Lock()
        self._waiting: list[tuple[np.ndarray, Future[np.ndarray]]] = []

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        """`compute(rows)`; a failure is raised in every thread whose rows were part of it."""
        mine: Future[np.ndarray] = Future()
        with self._lock:
            self._waiting.append((rows, mine))
        while not mine.done():
            with self._turn:
                if taken := self._take():
                    self._answer(taken)
        return mine.result()

    def _take(self) -> list[tuple[np.ndarray, Future[np.ndarray]]]:
        """Those that have waited longest, up to `at_once` rows, and at least one."""
        with self._lock:
            count, rows = 0, 0
            while count < len(self._waiting) and (count == 0 or rows + len(self._waiting[count][0]) <= self._at_once):
                rows += len(self._waiting[count][0])
                count += 1
            taken, self._waiting = self._waiting[:count], self._waiting[count:]
            return taken

    def _answer(self, taken: list[tuple[np.ndarray, Future[np.ndarray]]]) -> None:
        try:
            found = self._compute(np.concatenate([rows for rows, _ in taken]))
        except Exception as error:  # theirs to handle
            for _, asked in taken:
                asked.set_exception(error)
            return
        ends = np.cumsum([len(rows) for rows, _ in taken])[:-1]
        for (_, asked), part in zip(taken, np.split(found, ends), strict=True):
            asked.set_result(part)
