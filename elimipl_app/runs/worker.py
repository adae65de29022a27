"""A training: what is to be trained, which a page makes, and the job of the server, which knows nothing of pages."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from bag_generators import GENERATORS, InputError
from bag_generators.base.formats import MOST_TRAINING_NUMBERS
from elimipl.candidates.crowd import Candidates
from elimipl.cards.card import check_generator, usual_id
from elimipl.cards.finish import Finished, finish
from elimipl.config import Config
from elimipl.datasets.dataset import BagDataset
from elimipl.datasets.pictures import pictures_of
from elimipl.jobs import Job, StoppedError
from elimipl.training.loop import fit
from elimipl.training.reports import EpochReport
from elimipl.training.splits import stratified_splits
from elimipl_app.server.log import log_event, log_job, model_name

MOST_WATCHED = 6
SPLIT_SEED = 0
WATCHABLE_PACE = 10.0  # epochs per second


@dataclass(frozen=True, eq=False)
class Plan:
    """One training to be run."""

    title: str
    training: BagDataset
    held_out: BagDataset | None
    config: Config
    candidates: Candidates
    watched: np.ndarray
    """(b,) training bags whose probabilities and weights are kept of every epoch."""
    pace: float | None = None
    """Epochs per second at most, so that a person can follow; None for full speed."""
    qualities: Sequence[Mapping[str, float]] = ()
    """Pixel measures of the pictures of the training bags, where they were at hand."""


def make_plan(
    title: str,
    dataset: BagDataset,
    candidates: Candidates,
    config: Config,
    share_held_out: float = 0.3,
    pace: float | None = None,
    qualities: Sequence[Mapping[str, float]] = (),
    watch: int = MOST_WATCHED,
    split: int = 0,
) -> Plan:
    """Divide the bags, copies of one picture together, and choose up to `watch` to watch, of all classes in turn.

    The division is the same whatever the seed of the training, so that runs can be compared. Bags without a true
    label can't be measured on, so with them nothing is held out. `qualities` are the pixel measures of the bags'
    pictures, where they are at hand.
    """
    if dataset.instances.size > MOST_TRAINING_NUMBERS:
        raise InputError(
            f"The bags hold {dataset.instances.size:,} numbers; this page trains on up to {MOST_TRAINING_NUMBERS:,}.",
            "Use fewer bags here, or train with “python -m elimipl train”.",
        )
    ready = candidates.given_to(dataset)
    check_generator(dataset.generator)
    everything = np.arange(len(dataset))
    if (dataset.labels < 0).any() or share_held_out == 0:
        train, test = everything, everything[:0]
    else:
        train, test = stratified_splits(ready.labels, split + 1, 1 - share_held_out, SPLIT_SEED, ready.groups)[split]
    training, held_out = ready.subset(train), (ready.subset(test) if len(test) else None)
    measured = [qualities[i] for i in train.tolist()] if qualities else ()
    return Plan(title, training, held_out, config, candidates, _in_turn(training, watch), pace, measured)


def _in_turn(training: BagDataset, most: int) -> np.ndarray:
    """The first bag of every class that has false positives, then the second ones, no picture twice."""
    doubtful = np.flatnonzero(training.candidates.sum(axis=1) > 1)
    pool = doubtful if len(doubtful) else np.arange(len(training))
    _, first = np.unique(training.groups[pool], return_index=True)
    pictures = pool[np.sort(first)]
    labels = training.labels[pictures]
    turn = np.array([int((labels[:i] == label).sum()) for i, label in enumerate(labels)], dtype=int)
    return pictures[np.argsort(turn, kind="stable")][:most]


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
    return re.sub(r"[^a-z0-9_-]", "-", f"mine-{number}-{usual}"[:80].lower())
