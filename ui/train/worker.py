"""A training in a thread of its own. It knows nothing of the page: the page asks, and it stops when asked.

Every visitor's run has its own data, network and generator of random numbers, so runs don't disturb each other. They
take turns (`turns`), and a run ends by itself when nobody is there any more.
"""

import atexit
import threading
import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bag_generators import GENERATORS, InputError
from elimipl.cards.card import usual_id
from elimipl.cards.finish import Finished, finish
from elimipl.data.pictures import pictures_of
from elimipl.training.loop import fit
from elimipl.training.reports import EpochReport
from ui.frame.ending import end_all
from ui.frame.log import FAULT, REFUSED, log_event, model_name, raised_in
from ui.train.give_way import GiveWay
from ui.train.plan import Plan
from ui.train.turns import SERVER_LINE

PATIENCE = 60.0  # seconds a run goes on after its visitor was last there; a reload or a lost connection comes back
STOP_PATIENCE = 1.0  # seconds the page waits for a run to end before it goes on
RUNNING, DONE, STOPPED, FAILED = "running", "done", "stopped", "failed"
_FAULT = InputError("Training ended through a fault of the program.", "Start it again; the server's log says more.")
_turns = SERVER_LINE
_alive: "weakref.WeakSet[TrainingRun]" = weakref.WeakSet()


@dataclass(frozen=True, eq=False)
class Progress:
    """How far a run has come: t epochs, b watched bags, k classes."""

    state: str
    reports: tuple[EpochReport, ...]
    probabilities: np.ndarray  # (t, b, k) as the loss saw them
    weights: np.ndarray  # (t + 1, b, k) disambiguation weights; the first row is before training
    seconds: float
    trained: Finished | None = None
    error: InputError | None = None
    stopped_within: float | None = None
    """Seconds from the request to stop to the end of the training."""

    @property
    def epoch(self) -> int:
        """Epochs finished."""
        return len(self.reports)


class TrainingRun:
    """Carries out a plan in the background from the moment it is made, in turn with those of other visitors.

    `is_watched` is asked after every epoch whether the visitor is still there; it must be safe in any thread. Where
    too many wait for their turn already, making a run raises an `InputError`.
    """

    def __init__(
        self, plan: Plan, model_id: str, is_watched: Callable[[], bool] = lambda: True, visitor: str = ""
    ) -> None:
        self.plan = plan
        self.model_id = model_id
        self.is_watched = is_watched
        self._last_watched = time.monotonic()
        self._stop = threading.Event()
        self._asked: float | None = None
        self._lock = threading.Lock()
        self._began = time.monotonic()
        watched = plan.training.candidates[plan.watched]
        self._progress = Progress(
            RUNNING, (), np.empty((0, *watched.shape)), (watched / watched.sum(axis=1, keepdims=True))[None], 0.0
        )
        self._waited = 0.0
        self._thread = threading.Thread(target=self._run, name=f"training {model_id}", daemon=True)
        _turns.join(self, visitor)
        _alive.add(self)
        self._log("started")
        self._thread.start()

    @property
    def progress(self) -> Progress:
        """How it stands now; never changes once handed out."""
        with self._lock:
            return self._progress

    @property
    def alive(self) -> bool:
        """Whether the worker's thread still runs."""
        return self._thread.is_alive()

    @property
    def place(self) -> tuple[int, int]:
        """Place in line, from 1, and how many stand there; 0 while it is this run's turn."""
        return _turns.place(self), _turns.waiting()

    def watched_by(self, is_watched: Callable[[], bool]) -> None:
        """Go on for a visitor who came back."""
        self._last_watched, self.is_watched = time.monotonic(), is_watched

    def stop(self) -> None:
        """Ask the run to end, which it does after the epoch it is in, and wait a moment for it."""
        self.ask_to_end()
        self.join(STOP_PATIENCE)

    def ask_to_end(self) -> None:
        """The same without waiting."""
        self._asked = time.monotonic()
        self._stop.set()

    def join(self, seconds: float) -> None:
        """Wait for the end of the run, not longer than `seconds`."""
        self._thread.join(seconds)

    def seconds_left(self) -> float | None:
        """Expected time until the last epoch; None before the first is done."""
        progress = self.progress
        if progress.epoch == 0:
            return None
        return progress.seconds / progress.epoch * (self.plan.config.epochs - progress.epoch)

    def _run(self) -> None:
        try:
            self._await(_turns.await_turn)
            if self._is_over():  # before its turn came
                self._update(state=STOPPED)
                self._log(STOPPED)
                return
            plan, self._manners = self.plan, GiveWay()
            fitted = fit(
                plan.training,
                plan.config,
                held_out=plan.held_out,
                on_epoch=self._hear,
                should_stop=self._should_stop,
                device="cpu",
            )
            waited = None if self._asked is None else time.monotonic() - self._asked
            trained = finish(
                fitted,
                plan.training,
                plan.candidates,
                created_by="the Train page",
                held_out=plan.held_out,
                qualities=plan.qualities,
                name=plan.title,
                model_id=self.model_id,
            )
            self._update(state=STOPPED if fitted.stopped else DONE, trained=trained, stopped_within=waited)
            self._log(self.progress.state, **model_name(trained.card))
        except InputError as error:
            self._update(state=FAILED, error=error)
            self._log(REFUSED, where=raised_in(error))
        except Exception as error:
            self._update(state=FAILED, error=_FAULT)
            self._log(FAULT, kind=type(error).__name__, where=raised_in(error))
        finally:
            _turns.leave(self)

    def _log(self, outcome: str, **more: str) -> None:
        plan, progress = self.plan, self.progress
        generator = plan.training.generator if plan.training.generator in GENERATORS else "other"
        facts: dict[str, str | int] = {"generator": generator, "method": plan.config.method, "bags": len(plan.training)}
        facts |= {"epochs": progress.epoch, "ms": round(1000 * progress.seconds), **more}
        log_event("train", outcome, **facts)

    def _hear(self, report: EpochReport) -> None:
        watched, before, snapshot = self.plan.watched, self.progress, report.snapshot
        assert snapshot is not None  # fit gives one to every listener
        self._update(
            reports=(*before.reports, replace(report, snapshot=None)),
            probabilities=np.concatenate([before.probabilities, snapshot.probabilities[None, watched]]),
            weights=np.concatenate([before.weights, snapshot.weights[None, watched]]),
        )

    def _update(self, **changes: Any) -> None:
        with self._lock:
            self._progress = replace(self._progress, **changes, seconds=time.monotonic() - self._began - self._waited)

    def _should_stop(self) -> bool:
        if self.plan.pace is not None:
            due = self._began + self._waited + self.progress.epoch / self.plan.pace
            self._stop.wait(max(0.0, due - time.monotonic()))
        else:
            self._manners.rest(self._stop)
        self._await(_turns.give_way)
        return self._is_over()

    def _is_over(self) -> bool:
        now = time.monotonic()
        if self.is_watched():
            self._last_watched = now
        return self._stop.is_set() or now - self._last_watched > PATIENCE

    def _await(self, turn: Callable[["TrainingRun", Callable[[], bool]], None]) -> None:
        """Wait for a turn; the time in line is not counted as time of the training."""
        start = time.monotonic()
        turn(self, self._is_over)
        self._waited += time.monotonic() - start


def model_id_for(plan: Plan, number: int) -> str:
    """A name for the visitor's next model, such as mine-1-tissue7-sbn-elimipl or mine-2-phantoms-row-demipl."""
    bags = plan.training
    pictures = pictures_of(bags.generator, bags.source)
    usual = usual_id(pictures, bags.label_space, bags.generator, plan.config.method)
    return f"mine-{number}-{usual}"[:80].lower()


@atexit.register
def _end_all() -> None:
    end_all(_alive)
