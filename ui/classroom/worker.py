"""Training on the class's answers, in a thread that stands in line with all other trainings of the server."""

import atexit
import threading
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from bag_generators import InputError
from ui.classroom.learning import StoppedError, Task, learn, make_task
from ui.classroom.outcome import Outcome, write_outcome
from ui.classroom.store.classes import ClassStore
from ui.classroom.store.records import ClassSession
from ui.classroom.tally import Tally
from ui.frame.ending import end_all
from ui.frame.log import FAULT, REFUSED, log_event, raised_in
from ui.train.give_way import GiveWay
from ui.train.turns import SERVER_LINE

REST_EVERY = 2.0  # seconds; epochs are short, and a rest after each would take most of the time in a busy room
_FAULT = ("Training ended through a fault of the program.", "Start it again; the server's log says more.")
_alive: "weakref.WeakSet[ClassTraining]" = weakref.WeakSet()


class ClassTraining:
    """One run. `keep` is given what it came to, in the worker's thread, so that nobody has to be there for it.

    `give_up` is called where it ends without a result by a fault or by somebody's wish, not where the server ends.
    `tries` says how often it was begun.
    """

    def __init__(
        self, task: Task, owner: str, keep: Callable[[Outcome], None], give_up: Callable[[], None], tries: int = 1
    ) -> None:
        self._task, self._keep, self._give_up = task, keep, give_up
        self.tries = tries
        self._stop, self._unwanted = threading.Event(), False
        self._share = 0.0
        self.error: InputError | None = None
        """Why it ended without a result; None while it runs, after a result, and when it was stopped."""
        self._thread = threading.Thread(target=self._run, name="class training", daemon=True)
        SERVER_LINE.join(self, owner)
        _alive.add(self)
        self._thread.start()

    @property
    def running(self) -> bool:
        """Whether it still works or waits."""
        return self._thread.is_alive()

    @property
    def share(self) -> float:
        """How much is done, 0 to 1."""
        return self._share

    @property
    def place(self) -> tuple[int, int]:
        """Place in line, from 1, and how many stand there; 0 while it is this run's turn."""
        return SERVER_LINE.place(self), SERVER_LINE.waiting()

    def stop(self) -> None:
        """Ask it to end for good, which it does after the epoch it is in."""
        self._unwanted = True
        self.ask_to_end()
        self.join(2.0)

    def ask_to_end(self) -> None:
        """Ask it to end because the server does; the next one may begin it again."""
        self._stop.set()

    def join(self, seconds: float) -> None:
        """Wait for the end, not longer than `seconds`."""
        self._thread.join(seconds)

    def _run(self) -> None:
        start = time.monotonic()
        try:
            SERVER_LINE.await_turn(self, self._stop.is_set)
            self._manners, self._rested = GiveWay(), time.monotonic()
            outcome = learn(self._task, self._tell)
            self._keep(outcome.model_copy(update={"seconds": time.monotonic() - start}))
            log_event("class", "trained", pictures=len(self._task.facts), ms=round(1000 * (time.monotonic() - start)))
        except StoppedError:
            log_event("class", "stopped")
        except InputError as error:
            self.error = error
            log_event("class", REFUSED, where=raised_in(error))
        except Exception as error:
            self.error = InputError(*_FAULT)
            log_event("class", FAULT, kind=type(error).__name__, where=raised_in(error))
        finally:
            SERVER_LINE.leave(self)
            if self._unwanted or self.error is not None:
                with suppress(InputError):  # the class is gone, or another browser has it
                    self._give_up()

    def _tell(self, share: float) -> bool:
        self._share = share
        if time.monotonic() - self._rested > REST_EVERY:
            self._manners.rest(self._stop)
            self._rested = time.monotonic()
        SERVER_LINE.give_way(self, self._stop.is_set)
        return not self._stop.is_set()


def begin(
    store: ClassStore, session: ClassSession, teacher: str, counted: Tally, generator: str, tries: int = 1
) -> ClassTraining:
    """Train on a class's answers; the store knows of it until it ends, and with what."""
    task = make_task(
        session.label_space, generator, session.pictures, lambda number: store.picture(session.id, number), counted
    )
    store.begin_training(session.id, teacher, generator, tries)
    give_up = partial(store.end_training, session.id, teacher)
    try:
        return ClassTraining(
            task,
            teacher,
            lambda outcome: store.keep_outcome(session.id, teacher, write_outcome(outcome)),
            give_up,
            tries,
        )
    except InputError:
        give_up()
        raise


@atexit.register
def _end_all() -> None:
    end_all(_alive)
