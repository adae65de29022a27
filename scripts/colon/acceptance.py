"""When an answer may be trusted: fitted on sources that encoder and model had not seen, and on left-out folds.

Every row is a picture with the signs of its answer and whether it was right: the answer lies in the set that the
source's label maps to. Classes that only the left-out source has can't be answered right; the rule has to refuse them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from sklearn.linear_model import LogisticRegression

from elimipl.cards.card import Acceptance, Kept

MOST_WRONG = 0.04
"""Share of a set that may be trusted and wrong where the limit is set; on new pictures it is a little more."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Answers about the pictures of one set."""

    signs: np.ndarray  # (m, 7)
    right: np.ndarray  # (m,) bool


def kept(rule: Acceptance, rows: Rows) -> Kept:
    """What the rule does with some answers."""
    trusted = chances(rule, rows.signs) >= rule.limit
    return Kept(
        n=len(rows.right),
        right=round(float(rows.right.mean()), 4),
        trusted=round(float(trusted.mean()), 4),
        trusted_wrong=round(float((trusted & ~rows.right).mean()), 4),
    )


def chances(rule: Acceptance, signs: np.ndarray) -> np.ndarray:
    """(m, 7) → (m,)."""
    return np.array([rule.chance(tuple(row)) for row in signs])


def fit_rule(sets: Mapping[str, Rows]) -> Acceptance:
    """A logistic regression in which every set weighs the same, and the lowest limit that holds on each of them."""
    signs = np.concatenate([rows.signs for rows in sets.values()])
    right = np.concatenate([rows.right for rows in sets.values()])
    weight = np.concatenate([np.full(len(rows.right), 1 / len(rows.right)) for rows in sets.values()])
    shifts, scales = signs.mean(0), signs.std(0) + 1e-6
    found = LogisticRegression(C=1.0, max_iter=5000).fit(
        (signs - shifts) / scales, right, sample_weight=weight * len(right) / weight.sum()
    )
    rule = Acceptance(
        weights=tuple(found.coef_[0].tolist()),
        shifts=tuple(shifts.tolist()),
        scales=tuple(scales.tolist()),
        intercept=float(found.intercept_[0]),
        limit=0.0,
        pictures=0,
        fitted_on="sources left out of encoder and model, and left-out folds of the others",
        left_out={},
    )
    limit = max(_lowest(chances(rule, rows.signs), rows.right) for rows in sets.values())
    return replace(rule, limit=min(limit, 1.0))


def _lowest(chances: np.ndarray, right: np.ndarray) -> float:
    """The lowest limit at which at most 4 % of all answers are trusted and wrong."""
    order = np.argsort(-chances, kind="stable")
    wrong = np.cumsum(~right[order]) / len(right)
    too_many = np.flatnonzero(wrong > MOST_WRONG)
    return 0.0 if not len(too_many) else float(np.nextafter(chances[order[too_many[0]]], 2))
