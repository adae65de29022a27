"""Maps in the making: each in a thread of its own that belongs to a browser, so that it outlives page and reload.

One is made at a time; the others wait for their turn, so that a laptop stays usable. Nothing here knows the page.
"""

from __future__ import annotations

import atexit
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar

from bag_generators import InputError
from ui.frame.ending import end_all
from ui.frame.log import FAULT, REFUSED, log_event, raised_in

WAITING, RUNNING, DONE, STOPPED, FAILED = "waiting", "running", "done", "stopped", "failed"
STOP_PATIENCE = 2.0  # seconds the page waits for a job to end before it goes on
MOST_JOBS = 8
"""Of one visitor, over or not; the oldest that is over makes room."""
MOST_ALL_JOBS = 100
_FAULT = InputError("Mapping ended through a fault of the program.", "Start it again; the server's log says more.")

Result = TypeVar("Result")
Tell = Callable[[int, int], None]
"""Takes how many tiles are done, and of how many."""
ShouldStop = Callable[[], bool]
Work = Callable[[Tell, ShouldStop], Result | None]
"""Makes the result, or None when it was asked to stop; gets a `Tell` and the question whether to stop."""


@dataclass(frozen=True)
class Progress(Generic[Result]):
    """How a job stands; never changes once handed out."""

    state: str = WAITING
    done: int = 0
    total: int = 0
    seconds: float = 0.0
    result: Result | None = None
    error: InputError | None = None

    @property
    def is_over(self) -> bool:
        return self.state not in (WAITING, RUNNING)

    @property
    def seconds_left(self) -> float | None:
        """Expected time to the end; None before the first tile."""
        return None if self.done == 0 else self.seconds / self.done * (self.total - self.done)


class Job(Generic[Result]):
    """One map in the making. `slide_id`, `slide` and `model` say of what, for who looks at the list."""

    def __init__(self, slide_id: str, slide: str, model: str, work: Work[Result], turn: threading.Semaphore) -> None:
        self.id = secrets.token_hex(8)
        self.slide_id, self.slide, self.model = slide_id, slide, model
        self.made = datetime.now(UTC)
        self._work, self._turn = work, turn
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._progress: Progress[Result] = Progress()
        self._began = 0.0
        self._thread = threading.Thread(target=self._run, name="slide map", daemon=True)
        self._thread.start()

    @property
    def progress(self) -> Progress[Result]:
        """How it stands now."""
        with self._lock:
            return self._progress

    def stop(self) -> None:
        """Ask the job to end, and wait a moment for it."""
        self.ask_to_end()
        self.join(STOP_PATIENCE)

    def ask_to_end(self) -> None:
        """The same without waiting."""
        self._stop.set()

    def join(self, seconds: float) -> None:
        """Wait for the end, not longer than `seconds`."""
        self._thread.join(seconds)

    def _run(self) -> None:
        while not self._turn.acquire(timeout=0.2):
            if self._stop.is_set():
                self._update(state=STOPPED)
                return
        try:
            self._began = time.monotonic()
            self._update(state=RUNNING)
            result = self._work(self._tell, self._stop.is_set)
            self._update(state=STOPPED if result is None else DONE, result=result)
            log_event("map", self.progress.state, tiles=self.progress.done, ms=round(1000 * self.progress.seconds))
        except InputError as error:
            self._update(state=FAILED, error=error)
            log_event("map", REFUSED, where=raised_in(error))
        except Exception as error:
            self._update(state=FAILED, error=_FAULT)
            log_event("map", FAULT, kind=type(error).__name__, where=raised_in(error))
        finally:
            self._turn.release()

    def _tell(self, done: int, total: int) -> None:
        self._update(done=done, total=total)

    def _update(self, **changes: Any) -> None:
        with self._lock:
            seconds = time.monotonic() - self._began if self._began else 0.0
            self._progress = replace(self._progress, **changes, seconds=seconds)


class Jobs(Generic[Result]):
    """The jobs of all visitors; everyone sees only their own."""

    def __init__(self, at_once: int = 1) -> None:
        self._turn = threading.Semaphore(at_once)
        self._jobs: list[tuple[str, Job[Result]]] = []
        self._lock = threading.Lock()

    def of(self, visitor: str) -> list[Job[Result]]:
        """One visitor's jobs, the newest first."""
        with self._lock:
            return self._of(visitor)

    def start(self, visitor: str, slide_id: str, slide: str, model: str, work: Work[Result]) -> Job[Result]:
        """Start a job, or give the one that is making the same map already. A visitor has one in the making."""
        with self._lock:
            mine = self._of(visitor)
            for job in mine:
                if not job.progress.is_over:
                    if (job.slide_id, job.model) == (slide_id, model):
                        return job
                    raise InputError("A map of yours is still in the making.", "Wait for it, or stop it first.")
            job = Job(slide_id, slide, model, work, self._turn)
            self._jobs.append((visitor, job))
            over = [pair for pair in self._jobs if pair[1].progress.is_over]
            too_many = [pair for pair in over if pair[0] == visitor][: max(0, len(mine) + 1 - MOST_JOBS)]
            too_many += over[: max(0, len(self._jobs) - MOST_ALL_JOBS)]
            self._jobs = [pair for pair in self._jobs if pair not in too_many]
        return job

    def forget(self, visitor: str) -> None:
        """Stop and drop all jobs of a visitor."""
        mine = self.of(visitor)
        for one in mine:
            one.stop()
        with self._lock:
            self._jobs = [pair for pair in self._jobs if pair[1] not in mine]

    def end(self) -> None:
        """Stop everything, before the server ends: threads that are cut off in torch abort the process."""
        with self._lock:
            jobs = [job for _, job in self._jobs]
        end_all(jobs)

    def _of(self, visitor: str) -> list[Job[Result]]:
        return [job for owner, job in reversed(self._jobs) if owner == visitor]


def server_jobs() -> Jobs[Any]:
    """The jobs of this server."""
    return _jobs


_jobs: Jobs[Any] = Jobs()
atexit.register(_jobs.end)
