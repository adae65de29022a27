"""When an answer may be trusted: fitted on sources that encoder and model had not seen, and on left-out folds.

Every row is a picture with the signs of its answer and whether it was right: the answer lies in the set that the
source's label maps to. Classes that only the left-out source has can't be answered right; the rule has to refuse them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

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


@dataclass(frozen=True, eq=False)
class Rule:
    """A fitted rule before it is put on a card."""

    shifts: np.ndarray
    scales: np.ndarray
    weights: np.ndarray
    intercept: float
    limit: float

    def chances(self, signs: np.ndarray) -> np.ndarray:
        """(m, 7) → (m,)."""
        return np.asarray(1 / (1 + np.exp(-(((signs - self.shifts) / self.scales) @ self.weights + self.intercept))))

    def kept(self, rows: Rows) -> Kept:
        """What the rule does with some answers."""
        trusted = self.chances(rows.signs) >= self.limit
        return Kept(
            n=len(rows.right),
            right=round(float(rows.right.mean()), 4),
            trusted=round(float(trusted.mean()), 4),
            trusted_wrong=round(float((trusted & ~rows.right).mean()), 4),
        )


def fit_rule(sets: Mapping[str, Rows]) -> Rule:
    """A logistic regression in which every set weighs the same, and the lowest limit that holds on each of them."""
    signs = np.concatenate([rows.signs for rows in sets.values()])
    right = np.concatenate([rows.right for rows in sets.values()])
    weight = np.concatenate([np.full(len(rows.right), 1 / len(rows.right)) for rows in sets.values()])
    shifts, scales = signs.mean(0), signs.std(0) + 1e-6
    found = LogisticRegression(C=1.0, max_iter=5000).fit(
        (signs - shifts) / scales, right, sample_weight=weight * len(right) / weight.sum()
    )
    rule = Rule(shifts, scales, found.coef_[0], float(found.intercept_[0]), 0.0)
    limit = max(_lowest(rule.chances(rows.signs), rows.right) for rows in sets.values())
    return Rule(shifts, scales, rule.weights, rule.intercept, limit)


def _lowest(chances: np.ndarray, right: np.ndarray) -> float:
    """The lowest limit at which at most 4 % of all answers are trusted and wrong."""
    order = np.argsort(-chances, kind="stable")
    wrong = np.cumsum(~right[order]) / len(right)
    too_many = np.flatnonzero(wrong > MOST_WRONG)
    return 0.0 if not len(too_many) else float(np.nextafter(chances[order[too_many[0]]], 2))


def on_card(rule: Rule, known: int, fitted_on: str, left_out: Mapping[str, Kept]) -> Acceptance:
    """The rule as a card holds it."""
    return Acceptance(
        weights=tuple(rule.weights.tolist()),
        shifts=tuple(rule.shifts.tolist()),
        scales=tuple(rule.scales.tolist()),
        intercept=rule.intercept,
        limit=min(rule.limit, 1.0),
        pictures=known,
        fitted_on=fitted_on,
        left_out=dict(left_out),
    )
