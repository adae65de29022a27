"""Where the candidate sets of a training come from: the data's own, random false positives, or a simulated crowd."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bag_generators.errors import InputError
from elimipl.data.crowd import simulate, uniform_false_positives
from elimipl.dataset import BagDataset
from elimipl.labels import LabelSpace

KINDS = ("own", "random", "crowd")


@dataclass(frozen=True)
class Candidates:
    """One way to come by candidate sets.

    `own` leaves the sets of the data as they are, `random` draws the true label and r others, `crowd` asks three
    simulated annotators who name `size` labels on average (None: the paper's 2.08).
    """

    kind: str = "own"
    r: int = 1
    seed: int = 0
    size: float | None = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError(f"Candidate sets can't be “{self.kind}”.", f"Choose one of: {', '.join(KINDS)}.")

    @property
    def scheme(self) -> str:
        """In words, for the model card."""
        if self.kind == "random":
            return f"true label and {self.r} random others"
        return "three simulated annotators, two of three" if self.kind == "crowd" else "as in the data set"

    @property
    def drawn_with(self) -> int | None:
        """The seed the sets were drawn with; None where they were not drawn."""
        return None if self.kind == "own" else self.seed

    def given_to(self, dataset: BagDataset) -> BagDataset:
        """The same bags with these candidate sets, drawn once per source picture: its augmented copies share theirs.

        Annotators look at a picture, not at its mirror images; sets drawn per bag would tell a learner more than
        they know.
        """
        if self.kind == "own":
            return dataset
        if (dataset.labels < 0).any():
            raise InputError(
                "Candidate sets can only be made up around known labels.", "Use the candidate sets of the data."
            )
        # Equal pictures in two class folders share a group, but each label needs sets of its own.
        pictures, picture_of = np.unique(
            np.stack([dataset.groups, dataset.labels], axis=1), axis=0, return_inverse=True
        )
        made = self.drawn_around(pictures[:, 1], dataset.label_space)
        return dataset.with_candidates(made[picture_of.reshape(-1)])

    def drawn_around(self, labels: np.ndarray, label_space: LabelSpace) -> np.ndarray:
        """Candidate sets (m, k) for pictures with these true labels; the label alone where the data has its own.

        What can't be drawn is refused, so that a caller can ask before it makes any bags.
        """
        if self.kind == "crowd":
            return simulate(labels, label_space, target_size=self.size, seed=self.seed).candidates
        r = self.r if self.kind == "random" else 0
        return uniform_false_positives(labels, len(label_space), r, self.seed)
