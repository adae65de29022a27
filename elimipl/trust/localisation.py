"""Do high scores fall on the instances that carry the label, and is the attention anything but even?"""

from __future__ import annotations

import math

import numpy as np

from bag_generators.errors import InputError
from elimipl.explain import mean_ranks


def auroc(truth: np.ndarray, scores: np.ndarray) -> float:
    """Chance that a marked instance has a higher score than an unmarked one, ties counting half.

    >>> auroc(np.array([True, False, False]), np.array([0.5, 0.2, 0.5]))
    0.75
    """
    marked = _both_kinds(truth).sum()
    below = mean_ranks(scores)[truth].sum() - marked * (marked + 1) / 2  # Mann and Whitney's U
    return float(below / (marked * (len(truth) - marked)))


def average_precision(truth: np.ndarray, scores: np.ndarray) -> float:
    """Mean precision at the ranks of the marked instances, equal scores sharing the last rank among them.

    (scikit-learn has both, and takes longer to check its input than all other measurements together.)
    """
    _, position = np.unique(-np.asarray(scores, dtype=np.float64), return_inverse=True)
    found, seen = (np.bincount(position, weights=weights).cumsum() for weights in (_both_kinds(truth), None))
    return float((found / seen)[position][truth].mean())


def evenness(attention: np.ndarray) -> float:
    """Entropy of the attention (n,) over log n: 1 where all instances get the same, 0 where one gets everything.

    >>> evenness(np.array([0.5, 0.5, 0.0, 0.0]))
    0.5
    """
    if len(attention) < 2:
        return 1.0
    looked_at = attention[attention > 0]
    return float(-(looked_at * np.log(looked_at)).sum() / math.log(len(attention)))


def _both_kinds(truth: np.ndarray) -> np.ndarray:
    if truth.all() or not truth.any():
        raise InputError(
            "All instances of the bag are of one kind, so nothing can be told apart.", "Give a bag with both kinds."
        )
    return truth
