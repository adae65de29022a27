"""Work in the background of a server: slide maps, trainings, trainings of a class. One line, one Stop, one end.

A job runs in a thread of its own and belongs to an owner, such as a browser, so that it outlives a page and a reload.
A few run at once; the others stand in line, and nobody holds a turn for long while others wait.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, ClassVar, Generic, TypeVar

from bag_generators import InputError

WAITING, RUNNING, DONE, STOPPED, FAILED = "waiting", "running", "done", "stopped", "failed"
AT_ONCE = 2
SLICE_SECONDS = 20.0  # of a turn, while others wait
MOST_WAITING = 20
AWAY_PATIENCE = 60.0  # seconds a job goes on after its owner was last there; a reload or a lost connection comes back
KEPT_SECONDS = 600.0  # that a job which is over waits for its owner
STOP_PATIENCE = 2.0  # seconds a page waits for a job to end before it goes on
ENDING_PATIENCE = 60.0
"""Seconds for all together; beside other programs an epoch and its model take some. Ctrl-C ends the waiting."""
NICENESS = 5  # on the scale of `nice`: mild, for a thread that is hardly ever run would hold up others with its locks
REST_EVERY, LONGEST_REST = 1.0, 1.0  # seconds; a stop is heard while resting, too
_LOOK_SECONDS = 0.2  # how often somebody in line asks whether to go on waiting

Result = TypeVar("Result")


class StoppedError(Exception):
    """The work was asked to end and did, with the result it has so far or without one."""

    def __init__(self, result: Any = None) -> None:
        super().__init__()
        self.result = result


@dataclass(frozen=True, eq=False)
class Progress(Generic[Result]):
    """How a job stands; never changes once handed out."""

    state: str = WAITING
    done: int = 0
    total: int = 0
    seconds: float = 0.0
    """Of its turns; the time in line is not counted."""
    news: Any = None
    """The latest that the work had to tell."""
    result: Result | None = None
    error: InputError | None = None
    stopped_within: float | None = None
    """Seconds from the request to stop to when the work heard of it."""

    @property
    def is_over(self) -> bool:
        return self.state not in (WAITING, RUNNING)

    @property
    def seconds_left(self) -> float | None:
        """Expected time to the end; None before the first step is done."""
        return None if self.done == 0 else self.seconds / self.done * (self.total - self.done)


class Job(Generic[Result]):
    """One piece of work: a subclass says which in `work`, and `Queue.start` has it done.

    `owner` and `page` say whose it is and where it is found again; two jobs with equal `about` make the same thing.
    `is_watched` is asked between steps whether the owner is still there; it must be safe in any thread.
    """

    called: ClassVar[str] = "work"
    single: ClassVar[bool] = False
    """Whether one of these is made at a time, and one of an owner. It computes in processes of its own."""
    most_kept: ClassVar[tuple[int, int]] = (1, 32)
    """Of one owner on one page, and of everybody; the oldest that is over makes room."""

    def __init__(
        self, owner: str = "", page: str = "", about: object = None, is_watched: Callable[[], bool] = lambda: True
    ) -> None:
        self.owner, self.page, self.about, self.is_watched = owner, page, about, is_watched
        self.made = datetime.now(UTC)
        self.fault: Exception | None = None
        """What the work raised, for the log."""
        self.is_unwanted = False
        """Whether a person stopped it; the end of the server is no such wish."""
        self._seen = self._began = time.monotonic()
        self._waited = 0.0
        self._stop, self._asked, self._heard = threading.Event(), 0.0, 0.0
        self._lock = threading.Lock()
        self._progress: Progress[Result] = Progress()
        self._thread = threading.Thread(target=self._run, name=self.called, daemon=True)

    def work(self) -> Result:
        """Make the result in the job's thread. Between steps it calls `tell` and `should_stop`."""
        raise NotImplementedError

    def ended(self) -> None:
        """Called in the job's thread when it is over, however it ended."""

    @property
    def progress(self) -> Progress[Result]:
        """How it stands now."""
        with self._lock:
            return self._progress

    @property
    def alive(self) -> bool:
        """Whether its thread still runs."""
        return self._thread.is_alive()

    @property
    def place(self) -> tuple[int, int]:
        """Place in line, from 1, and how many stand there; 0 while it is this job's turn."""
        return self._queue.place(self)

    def stop(self) -> None:
        """Ask it to end for good, which it does after the step it is in, and wait a moment for it."""
        self.is_unwanted = True
        self.ask_to_end()
        self.join(STOP_PATIENCE)

    def ask_to_end(self) -> None:
        """Ask it to end because the server does."""
        self._asked = time.monotonic()
        self._stop.set()

    def join(self, seconds: float) -> None:
        """Wait for the end, not longer than `seconds`."""
        self._thread.join(seconds)

    def watched_by(self, is_watched: Callable[[], bool]) -> None:
        """Go on for an owner who came back."""
        self._seen, self.is_watched = time.monotonic(), is_watched

    def tell(self, done: int, total: int, news: Any = None) -> None:
        """For the work: how many of how many steps are done, and what is new."""
        self._update(done=done, total=total, news=news)

    def should_stop(self, due: float | None = None) -> bool:
        """For the work, between two steps: lets others go first when they wait, then says whether to end.

        With `due` the next step does not begin before the job has had so many seconds.
        """
        if due is not None:
            self._stop.wait(max(0.0, due - self._seconds()))
        elif not self.single:
            self._throttle.rest(self._stop)
        self._in_line(self._queue.yield_turn)
        if self.is_unneeded():
            self._heard = time.monotonic()
            return True
        return False

    def is_unneeded(self) -> bool:
        """Whether it was asked to end, or its owner has been away for too long."""
        return self._stop.is_set() or self.seconds_away() > AWAY_PATIENCE

    def seconds_away(self) -> float:
        """How long its owner has not been there."""
        now = time.monotonic()
        if self.is_watched():
            self._seen = now
        return now - self._seen

    def _begin(self, queue: Queue) -> None:
        self._queue = queue
        self._thread.start()

    def _run(self) -> None:
        try:
            self._in_line(self._queue.await_turn)
            if self.is_unneeded():
                raise StoppedError
            if not self.single:
                self._throttle = CpuThrottle()
            self._update(state=RUNNING)
            self._update(result=self.work(), state=DONE)
        except StoppedError as stopped:
            within = self._heard - self._asked if self._asked and self._heard else None
            self._update(state=STOPPED, result=stopped.result, stopped_within=within)
        except InputError as error:
            self.fault = error
            self._update(state=FAILED, error=error)
        except Exception as error:
            self.fault = error
            what = f"{self.called.capitalize()} ended through a fault of the program."
            self._update(state=FAILED, error=InputError(what, "Start it again; the server's log says more."))
        finally:
            self._queue.leave(self)
            self.ended()

    def _in_line(self, wait: Callable[[Job[Any]], None]) -> None:
        start = time.monotonic()
        wait(self)
        self._waited += time.monotonic() - start

    def _seconds(self) -> float:
        return time.monotonic() - self._began - self._waited

    def _update(self, **changes: Any) -> None:
        with self._lock:
            self._progress = replace(self._progress, **changes, seconds=self._seconds())


class Queue:
    """The line of all jobs of a server, and where their owners find them again.

    Turns go by the order in line, first to owners who have none. A job whose time is up while others wait goes to the
    end of the line. A map that has begun is finished before another is begun, but trainings take turns with it.
    """

    def __init__(
        self, at_once: int = AT_ONCE, slice_seconds: float = SLICE_SECONDS, most_waiting: int = MOST_WAITING
    ) -> None:
        self._at_once, self.slice_seconds, self._most_waiting = at_once, slice_seconds, most_waiting
        self._line: list[Job[Any]] = []
        self._turns: dict[Job[Any], float] = {}
        self._single: Job[Any] | None = None
        self._kept: list[Job[Any]] = []
        self._changed = threading.Condition()

    def start(self, job: Job[Any]) -> Job[Any]:
        """Have a job done, or give the owner's one that makes the same; an `InputError` where the line is too long."""
        with self._changed:
            for other in self.of(job.owner, job.page) if job.single else ():
                if not other.progress.is_over:
                    if other.about == job.about:
                        return other
                    raise InputError(f"A {job.called} of yours is still running.", "Wait for it, or stop it first.")
            if len(self._line) >= self._most_waiting:
                raise InputError(
                    f"{len(self._turns)} jobs run on this server and {len(self._line)} wait for their turn.",
                    "Try again in some minutes.",
                )
            self._line.append(job)
            self._kept.append(job)
            self._make_room(job)
            self._call_up()
            job._begin(self)
        return job

    def of(self, owner: str, page: str) -> list[Any]:
        """An owner's jobs on a page, the newest first; those that nobody came back to are gone."""
        with self._changed:
            self._kept = [job for job in self._kept if job.seconds_away() < KEPT_SECONDS or not job.progress.is_over]
            return [job for job in reversed(self._kept) if (job.owner, job.page) == (owner, page)]

    def forget(self, owner: str, page: str) -> None:
        """Stop and drop an owner's jobs on a page."""
        mine = self.of(owner, page)
        for job in mine:
            job.stop()
        with self._changed:
            self._kept = [job for job in self._kept if job not in mine]

    def end(self) -> None:
        """End everything before the server does: threads that are cut off in torch abort the process.

        All are asked first, then waited for: how busy the machine is must not decide who is cut off.
        """
        with self._changed:
            jobs = [*self._turns, *self._line]
        for job in jobs:
            job.ask_to_end()
        deadline = time.monotonic() + ENDING_PATIENCE
        for job in jobs:
            job.join(max(0.0, deadline - time.monotonic()))

    def place(self, job: Job[Any]) -> tuple[int, int]:
        """Place in line, from 1, and how many stand there; 0 for a job that does not."""
        with self._changed:
            return self._order().index(job) + 1 if job in self._line else 0, len(self._line)

    def await_turn(self, job: Job[Any]) -> None:
        """Return when it is the job's turn, or when it no longer wants one."""
        with self._changed:
            while job in self._line and not job.is_unneeded():
                self._changed.wait(_LOOK_SECONDS)

    def yield_turn(self, job: Job[Any]) -> None:
        """Wait at the end of the line when the time of the job's turn is up and others wait."""
        with self._changed:
            since = self._turns.get(job)
            if since is None or not self._line or time.monotonic() - since < self.slice_seconds:
                return
            del self._turns[job]
            self._line.append(job)
            self._call_up()
        self.await_turn(job)

    def leave(self, job: Job[Any]) -> None:
        """Make room for the next."""
        with self._changed:
            self._turns.pop(job, None)
            if job in self._line:
                self._line.remove(job)
            if self._single is job:
                self._single = None
            self._call_up()

    def _order(self) -> list[Job[Any]]:
        """The line as it will be called up: owners whose other jobs have a turn come last."""
        busy = {job.owner for job in self._turns}
        return sorted(self._line, key=lambda job: job.owner in busy)

    def _call_up(self) -> None:
        while len(self._turns) < self._at_once:
            ready = (job for job in self._order() if not job.single or self._single in (None, job))
            if (job := next(ready, None)) is None:
                break
            self._line.remove(job)
            self._turns[job] = time.monotonic()
            self._single = job if job.single else self._single
        self._changed.notify_all()

    def _make_room(self, new: Job[Any]) -> None:
        alike = [job for job in self._kept if type(job) is type(new)]
        mine = [job for job in alike if (job.owner, job.page) == (new.owner, new.page)]
        over = [job for job in alike if job.progress.is_over]
        dropped = mine[: -new.most_kept[0]] + over[: max(0, len(alike) - new.most_kept[1])]
        self._kept = [job for job in self._kept if job not in dropped]


class CpuThrottle:
    """Made in the thread that computes: people wait for a page, nobody waits for a training to the second.

    `rest` pauses as long as the thread had to wait for others. Alone on the server it never waits and never rests.
    """

    def __init__(self) -> None:
        if sys.platform == "linux":  # the only system on which threads have a niceness of their own
            thread = threading.get_native_id()
            with suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, thread, max(NICENESS, os.getpriority(os.PRIO_PROCESS, thread)))
        self._clock, self._computed = time.monotonic(), time.thread_time()

    def rest(self, stop: threading.Event) -> None:
        """Pause, from time to time only: steps may be short."""
        passed, computed = time.monotonic() - self._clock, time.thread_time() - self._computed
        if passed >= REST_EVERY:
            stop.wait(min(max(0.0, passed - computed), LONGEST_REST))
            self._clock, self._computed = time.monotonic(), time.thread_time()


SERVER = Queue()
"""The line of this server."""
atexit.register(lambda: SERVER.end())
