"""Sets of labels that hold the true one as often as promised: split conformal prediction, class by class.

A class is in the set when its calibrated probability reaches the class's threshold. The threshold is the probability
that the wanted share of held-out pictures *of that class* reached (Mondrian split conformal prediction, score 1 − p_y),
so the promise holds for each class and not only on average, as long as new pictures come from where the held-out ones
came from. Where the held-out outputs are of several models, each fitted without the pictures it was asked about, the
promise is approximate.

Where few pictures of some classes can be held out, one threshold shared by all classes gives smaller sets; the promise
then holds on average over the held-out pictures, no longer class by class.

The most probable class is always in the set, also below its threshold: a set that leaves out the label above it would
contradict it, and one without any label would say that the picture shows nothing. A set can only grow by that, so the
promise holds, and sets of a good model cover more than promised. Coverage is measured with it.

The same can be fitted from candidate sets alone, with the most probable candidate in the place of the true label. That
assumes that the model disambiguates rightly; where it doesn't, the sets are too small, and the measured coverage says
by how much.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from bag_generators.base.errors import InputError
from bag_generators.base.validation import STRICT, Share, Whole

LEVELS = (0.8, 0.9, 0.95)
USUAL_LEVEL = 0.9
TRUE_LABELS: Literal["true labels"] = "true labels"
CANDIDATE_SETS: Literal["candidate sets"] = "candidate sets"
FOLDS = 10
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Coverage:
    """How label sets do on n bags whose labels are known."""

    __pydantic_config__ = STRICT

    level: float
    """What was promised."""
    value: float
    """Share of the sets that hold the true label."""
    lowest_of_a_class: float
    """The same share in the class where it is smallest."""
    size: float
    """Labels in an average set."""
    single: float
    """Share of the sets with one label."""
    no_answer: float
    """Share of the sets that hold every class."""
    n: Whole
    on: str


@dataclass(frozen=True)
class Conformal:
    """The lowest probability with which a class is in the set, for each level and class.

    A threshold of 0 lets the class into every set: there were too few held-out pictures of it for the level.
    """

    __pydantic_config__ = STRICT

    thresholds: tuple[tuple[Share, ...], ...]
    """A row for each level."""
    pictures: tuple[Whole, ...]
    """Held-out pictures of each class; several outputs for one picture count once."""
    fitted_on: str
    fitted_by: Literal["true labels", "candidate sets"] = TRUE_LABELS
    levels: tuple[float, ...] = LEVELS
    coverage: Coverage | None = None
    """On bags the thresholds don't come from."""

    def __post_init__(self) -> None:
        if len(self.thresholds) != len(self.levels) or any(len(row) != len(self.pictures) for row in self.thresholds):
            raise InputError(
                "The thresholds of the label sets don't fit their levels and classes.",
                "Give a row for each level and a number for each class.",
            )

    def members(self, probabilities: np.ndarray, level: float = USUAL_LEVEL) -> np.ndarray:
        """Which classes are in the sets, (…, k) bool, for calibrated probabilities (…, k); the most probable one is."""
        if level not in self.levels:
            known = ", ".join(f"{one:g}" for one in self.levels)
            raise InputError(f"There are no label sets at the level {level:g}.", f"Choose from: {known}.")
        given = np.asarray(probabilities)
        reached = given >= np.array(self.thresholds[self.levels.index(level)])
        return np.asarray(reached | (given == given.max(axis=-1, keepdims=True)))


def fit_conformal(
    probabilities: np.ndarray,
    labels: np.ndarray,
    fitted_on: str,
    groups: np.ndarray | None = None,
    shared: bool = False,
) -> Conformal:
    """Thresholds from calibrated probabilities (m, k) of held-out bags and their labels (m,).

    `groups` (m,) says which outputs are for the same picture, held out several times; they share one picture's weight.
    `shared`: one threshold for all classes.
    """
    k = probabilities.shape[1]
    sources = np.arange(len(labels)) if groups is None else groups
    own = [(probabilities[labels == c, c], sources[labels == c]) for c in range(k)]
    fitted_by = [(probabilities[np.arange(len(labels)), labels], sources)] * k if shared else own
    return Conformal(
        tuple(tuple(_threshold(reached, source, level) for reached, source in fitted_by) for level in LEVELS),
        tuple(len(np.unique(source)) for _, source in own),
        fitted_on,
    )


def _threshold(reached: np.ndarray, sources: np.ndarray, level: float) -> float:
    """The largest probability that level·(n + 1) of the n pictures reach; 0 where they are too few."""
    _, picture, repeats = np.unique(sources, return_inverse=True, return_counts=True)
    order = np.argsort(-reached, kind="stable")
    reaching = (1 / repeats[picture])[order].cumsum()
    enough = np.flatnonzero(reaching >= level * (len(repeats) + 1) - _ROUNDING)
    return float(reached[order[enough[0]]]) if enough.size else 0.0


def measure_coverage(members: np.ndarray, labels: np.ndarray, on: str) -> Coverage:
    """What sets (m, k) hold of the true labels (m,), and how large they are."""
    sizes = members.sum(axis=1)
    held = members[np.arange(len(labels)), labels]
    return Coverage(
        level=USUAL_LEVEL,
        value=float(held.mean()),
        lowest_of_a_class=min(float(held[labels == c].mean()) for c in np.unique(labels)),
        size=float(sizes.mean()),
        single=float((sizes == 1).mean()),
        no_answer=float((sizes == members.shape[1]).mean()),
        n=len(labels),
        on=on,
    )


def left_out_members(probabilities: np.ndarray, labels: np.ndarray, groups: np.ndarray | None = None) -> np.ndarray:
    """The sets (m, k) of the held-out bags themselves, a tenth of the pictures left out of the fit in turn.

    `labels` are those to fit by, true or most probable; dealing the pictures out in order keeps the classes even.
    """
    sources = np.arange(len(labels)) if groups is None else groups
    distinct, picture = np.unique(sources, return_inverse=True)
    first = np.unique(picture, return_index=True)[1]
    part = np.empty(len(distinct), dtype=np.int64)
    part[np.argsort(labels[first], kind="stable")] = np.arange(len(distinct)) % FOLDS
    members = np.ones(probabilities.shape, dtype=bool)
    for fold in range(FOLDS):
        left_out = part[picture] == fold
        if left_out.any() and not left_out.all():
            fitted = fit_conformal(probabilities[~left_out], labels[~left_out], "", sources[~left_out])
            members[left_out] = fitted.members(probabilities[left_out])
    return members
