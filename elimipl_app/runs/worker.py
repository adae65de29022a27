"""A training as a job of the server. It knows nothing of the page: the page asks, and it stops when asked."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from bag_generators import GENERATORS
from elimipl.cards.card import usual_id
from elimipl.cards.finish import Finished, finish
from elimipl.datasets.pictures import pictures_of
from elimipl.jobs import Job, StoppedError
from elimipl.training.loop import fit
from elimipl.training.reports import EpochReport
from elimipl_app.runs.plan import Plan
from elimipl_app.server.log import log_event, log_job, model_name


@dataclass(frozen=True, eq=False)
class Curves:
    """What a training has told so far: t epochs, b watched bags, k classes."""

    reports: tuple[EpochReport, ...]
    probabilities: np.ndarray  # (t, b, k) as the loss saw them
    weights: np.ndarray  # (t + 1, b, k) disambiguation weights; the first row is before training


class TrainingRun(Job[Finished]):
    """Carries out a plan, the `number`th of a visitor. Its news are `Curves`, its steps epochs."""

    called = "training"

    def __init__(
        self,
        plan: Plan,
        number: int = 1,
        is_watched: Callable[[], bool] = lambda: True,
        owner: str = "",
        page: str = "",
    ) -> None:
        super().__init__(owner, page, is_watched=is_watched)
        self.plan, self.number = plan, number
        watched = plan.training.candidates[plan.watched]
        even = (watched / watched.sum(axis=1, keepdims=True))[None]
        self.tell(0, plan.config.epochs, Curves((), np.empty((0, *watched.shape)), even))

    def work(self) -> Finished:
        """The model, also of a training that was stopped."""
        log_event("train", "started", **self._facts())
        plan = self.plan
        fitted = fit(
            plan.training,
            plan.config,
            held_out=plan.held_out,
            on_epoch=self._hear,
            should_stop=lambda: self.should_stop(plan.pace and self.progress.done / plan.pace),
            device="cpu",
        )
        trained = finish(
            fitted,
            plan.training,
            plan.candidates,
            created_by="the Train page",
            held_out=plan.held_out,
            qualities=plan.qualities,
            name=plan.title,
            model_id=model_id_for(plan, self.number),
        )
        if fitted.stopped:
            raise StoppedError(trained)
        return trained

    def ended(self) -> None:
        """To the log."""
        log_job("train", self, **self._facts())

    def _facts(self) -> dict[str, str | int]:
        plan, progress = self.plan, self.progress
        return {
            "generator": plan.training.generator if plan.training.generator in GENERATORS else "other",
            "method": plan.config.method,
            "bags": len(plan.training),
            "epochs": progress.done,
            "ms": round(1000 * progress.seconds),
            **({} if progress.result is None else model_name(progress.result.card)),
        }

    def _hear(self, report: EpochReport) -> None:
        watched, before, snapshot = self.plan.watched, self.progress.news, report.snapshot
        assert snapshot is not None  # fit gives one to every listener
        curves = Curves(
            reports=(*before.reports, replace(report, snapshot=None)),
            probabilities=np.concatenate([before.probabilities, snapshot.probabilities[None, watched]]),
            weights=np.concatenate([before.weights, snapshot.weights[None, watched]]),
        )
        self.tell(len(curves.reports), self.plan.config.epochs, curves)


def model_id_for(plan: Plan, number: int) -> str:
    """A name for a visitor's model, such as mine-1-tissue7-sbn-elimipl or mine-2-phantoms-row-demipl."""
    bags = plan.training
    pictures = pictures_of(bags.generator, bags.source)
    usual = usual_id(pictures, bags.label_space, bags.generator, plan.config.method)
    return f"mine-{number}-{usual}"[:80].lower()
