"""Training on the class's answers: a job that belongs to the class, so that nobody has to be there for it."""

import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from bag_generators import InputError
from elimipl import jobs
from elimipl.classroom.learning import Task, learn, make_task
from elimipl.classroom.outcome import ClassOutcome
from elimipl.classroom.store.classes import ClassStore
from elimipl.classroom.store.records import ClassSession
from elimipl.classroom.tally import Tally
from elimipl.jobs import FAILED, Job
from elimipl_app.server.log import log_job

_STEPS = 1000  # what the share that is done is told in


class ClassTraining(Job[ClassOutcome]):
    """One run. `keep` is given what it came to, in the job's thread.

    `give_up` is called where it ends without a result by a fault or by somebody's wish, not where the server ends.
    `tries` says how often it was begun.
    """

    called = "training"

    def __init__(
        self, task: Task, owner: str, keep: Callable[[ClassOutcome], None], give_up: Callable[[], None], tries: int = 1
    ) -> None:
        super().__init__(owner)
        self._task, self._keep, self._give_up = task, keep, give_up
        self.tries = tries

    def work(self) -> ClassOutcome:
        """What the class's answers come to, kept in the class."""
        start = time.monotonic()
        learned = learn(self._task, self._hear)
        outcome = learned.model_copy(update={"seconds": time.monotonic() - start})
        self._keep(outcome)
        return outcome

    def ended(self) -> None:
        """To the log; and the store forgets a training that nobody will begin again."""
        log_job("class", self, pictures=len(self._task.facts), ms=round(1000 * self.progress.seconds))
        if self.is_unwanted or self.progress.state == FAILED:
            with suppress(InputError):  # the class is gone, or another browser has it
                self._give_up()

    def _hear(self, share: float) -> bool:
        self.tell(round(_STEPS * share), _STEPS)
        return not self.should_stop()


def latest(session: ClassSession) -> ClassTraining | None:
    """The latest training of a class on this server."""
    return next(iter(jobs.SERVER.of(f"class {session.id}", "")), None)


def begin(
    store: ClassStore, session: ClassSession, teacher: str, counted: Tally, generator: str, tries: int = 1
) -> ClassTraining:
    """Train on a class's answers; the store knows of it until it ends, and with what."""
    task = make_task(
        session.label_space, generator, session.pictures, lambda number: store.picture(session.id, number), counted
    )
    store.begin_training(session.id, teacher, generator, tries)
    give_up = partial(store.end_training, session.id, teacher)

    def keep(outcome: ClassOutcome) -> None:
        store.keep_outcome(session.id, teacher, outcome.model_dump_json())

    run = ClassTraining(task, f"class {session.id}", keep, give_up, tries)
    try:
        jobs.SERVER.start(run)
    except InputError:
        give_up()
        raise
    return run
