"""What is to be trained: bags, candidate sets, settings. Made by the page, carried out by a worker."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bag_generators import InputError
from bag_generators.base.formats import MOST_TRAINING_NUMBERS
from elimipl.candidates.crowd import Candidates
from elimipl.config import Config
from elimipl.datasets.dataset import BagDataset
from elimipl.training.splits import stratified_splits

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
