"""What is to be trained: bags, candidate sets, settings. Made by the page, carried out by a worker."""

from dataclasses import dataclass

import numpy as np

from bag_generators import InputError
from bag_generators.formats import MOST_TRAINING_NUMBERS
from elimipl.config import Config
from elimipl.data.crowd import simulate, uniform_false_positives
from elimipl.dataset import BagDataset
from elimipl.training.splits import stratified_splits

MOST_WATCHED = 6
SPLIT_SEED = 0


@dataclass(frozen=True)
class Candidates:
    """Where the candidate sets come from: `own` (of the data), `random` (r false positives) or `crowd`."""

    kind: str
    r: int = 1
    seed: int = 0

    @property
    def scheme(self) -> str:
        """In words, for the model card."""
        if self.kind == "random":
            return f"true label and {self.r} random others"
        return "three simulated annotators, two of three" if self.kind == "crowd" else "as in the data set"

    def given_to(self, dataset: BagDataset) -> BagDataset:
        """The same bags with these candidate sets; augmented copies of one picture share theirs."""
        if self.kind == "own":
            return dataset
        if (dataset.labels < 0).any():
            raise InputError(
                "Candidate sets can only be made up around known labels.", "Use the candidate sets of the data."
            )
        _, first, group_of = np.unique(dataset.groups, return_index=True, return_inverse=True)
        labels = dataset.labels[first]
        if self.kind == "random":
            made = uniform_false_positives(labels, dataset.n_classes, self.r, self.seed)
        else:
            made = simulate(labels, dataset.label_space, seed=self.seed).candidates
        return dataset.with_candidates(made[group_of])


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
    """Epochs a second at most, so that a person can follow; None for full speed."""


def make_plan(
    title: str,
    dataset: BagDataset,
    candidates: Candidates,
    config: Config,
    share_held_out: float = 0.3,
    pace: float | None = None,
) -> Plan:
    """Divide the bags, copies of one picture together, and choose a few to watch: one of each class.

    The division is the same whatever the seed of the training, so that runs can be compared. Bags without a true
    label can't be measured on, so with them nothing is held out.
    """
    if dataset.instances.size > MOST_TRAINING_NUMBERS:
        raise InputError(
            f"The bags hold {dataset.instances.size:,} numbers; this page trains on up to {MOST_TRAINING_NUMBERS:,}.",
            "Use fewer bags here, or train with “python -m elimipl train”.",
        )
    ready = candidates.given_to(dataset)
    if (dataset.labels < 0).any() or share_held_out == 0:
        training, held_out = ready, None
    else:
        train, test = stratified_splits(ready.labels, 1, 1 - share_held_out, SPLIT_SEED, ready.groups)[0]
        training, held_out = ready.subset(train), (ready.subset(test) if len(test) else None)
    return Plan(title, training, held_out, config, candidates, _one_of_each(training), pace)


def _one_of_each(training: BagDataset) -> np.ndarray:
    """The first bag of every class that has false positives; further ones where classes are few."""
    doubtful = np.flatnonzero(training.candidates.sum(axis=1) > 1)
    pool = doubtful if len(doubtful) else np.arange(len(training))
    _, first = np.unique(training.labels[pool], return_index=True)
    chosen = pool[np.sort(first)][:MOST_WATCHED]
    rest = pool[~np.isin(pool, chosen)]
    return np.concatenate([chosen, rest[: MOST_WATCHED - len(chosen)]])
