"""Make a predicted probability mean what it says: temperature scaling and the calibration error.

What is scaled is the logarithm of the raw probabilities, p → p^(1/T) / Σ p^(1/T), whatever head made them.
For a softmax head that is ordinary temperature scaling of the logits. The authors' softmax-of-sigmoid head
can't exceed e/(e+k−1) (.312 for seven classes); a small T undoes that squeeze, because log p is there the
sigmoid of the logit up to a constant. The order of the classes, and so the label, never changes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from bag_generators.base.errors import InputError
from bag_generators.base.validation import STRICT, Count, Share, Whole

LOWEST_TEMPERATURE, HIGHEST_TEMPERATURE = 0.01, 100.0
BINS = 15
CASES_FOR_EQUAL_WIDTH = 100 * BINS
CASES_PER_BIN = 10
# Keeps log p finite where float32 rounded a probability down to zero.
_SMALLEST = 1e-30


@dataclass(frozen=True)
class Calibration:
    """A temperature and the calibration error (ECE) before and after it, on the n bags it was fitted on.

    One number fitted on n bags: on other bags the error after it is a little larger than `ece_after`.
    """

    __pydantic_config__ = STRICT

    temperature: Annotated[float, Field(ge=LOWEST_TEMPERATURE, le=HIGHEST_TEMPERATURE)]
    ece_before: float
    ece_after: float
    n: Whole
    fitted_on: str
    kind: Literal["temperature"] = "temperature"


def temper(probabilities: np.ndarray, temperature: float) -> np.ndarray:
    """Probabilities (…, k) at temperature T: p^(1/T), normalised; below 1 sharper, above 1 flatter.

    >>> temper(np.array([0.2, 0.8]), 0.5).round(3)
    array([0.059, 0.941])
    """
    scaled = np.log(np.maximum(np.asarray(probabilities, dtype=np.float64), _SMALLEST)) / temperature
    return np.asarray(np.exp(scaled - np.logaddexp.reduce(scaled, axis=-1, keepdims=True)))


def fit_temperature(probabilities: np.ndarray, labels: np.ndarray) -> float:
    """Temperature at which the probabilities (m, k) lie closest to the true labels (m,), by the Brier score.

    The log-likelihood is the usual loss, but a few confident mistakes rule it: they flatten all other answers until
    the calibration error is worse than before. The squared error of the Brier score is as proper and bounded. Like
    in Platt's scaling the target of the true class is (m+1)/(m+2) instead of 1: without it a few held-out bags that
    all happen to be right would ask for T = 0, a model that is always certain.
    """
    from scipy.optimize import minimize_scalar  # slow to import, and predicting needs none of it

    probabilities, labels = _checked(probabilities, labels)
    m, k = probabilities.shape
    targets = np.full((m, k), 1 / ((m + 2) * (k - 1)))
    targets[np.arange(m), labels] = (m + 1) / (m + 2)

    def brier(log_temperature: float) -> float:
        return float(np.square(temper(probabilities, np.exp(log_temperature)) - targets).sum(axis=1).mean())

    # The score has one valley in practice, but nothing proves it: look everywhere first, then closely.
    grid = np.linspace(np.log(LOWEST_TEMPERATURE), np.log(HIGHEST_TEMPERATURE), 93)
    best = int(np.argmin([brier(point) for point in grid]))
    around = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    found = minimize_scalar(brier, bounds=around, method="bounded", options={"xatol": 1e-6})
    return float(np.clip(np.exp(found.x), LOWEST_TEMPERATURE, HIGHEST_TEMPERATURE))


def expected_calibration_error(probabilities: np.ndarray, labels: np.ndarray) -> float:
    """Mean distance between confidence (largest probability) and accuracy over bins of like confidence.

    From 1,500 bags on: the usual 15 bins of equal width. With fewer, such bins hold a handful each and
    their accuracy is noise; then the bins hold about equally many bags, at least ten each and at most 15 bins.
    Equal confidences always share a bin, so that the order of the bags doesn't matter.
    """
    probabilities, labels = _checked(probabilities, labels)
    confidence = probabilities.max(axis=1)
    right = probabilities.argmax(axis=1) == labels
    bin_of = np.searchsorted(_inner_edges(confidence), confidence, side="left")
    cases = np.bincount(bin_of)
    gaps = np.abs(np.bincount(bin_of, weights=confidence) - np.bincount(bin_of, weights=right))
    return float(gaps[cases > 0].sum() / len(labels))


def calibrate(probabilities: np.ndarray, labels: np.ndarray, fitted_on: str) -> Calibration:
    """Fit a temperature on held-out bags: raw probabilities (m, k), true labels (m,), and what they are."""
    temperature = fit_temperature(probabilities, labels)
    return Calibration(
        temperature=temperature,
        ece_before=expected_calibration_error(probabilities, labels),
        ece_after=expected_calibration_error(temper(probabilities, temperature), labels),
        n=len(labels),
        fitted_on=fitted_on,
    )


def _inner_edges(confidence: np.ndarray) -> np.ndarray:
    """Upper edges of all bins but the last; a bin holds what is above the edge before and not above its own."""
    if len(confidence) >= CASES_FOR_EQUAL_WIDTH:
        return np.linspace(0, 1, BINS + 1)[1:-1]
    bins = int(np.clip(len(confidence) // CASES_PER_BIN, 1, BINS))
    positions = np.arange(1, bins) * len(confidence) // bins - 1
    return np.unique(np.sort(confidence)[positions])


def _checked(probabilities: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    probabilities, labels = np.asarray(probabilities, dtype=np.float64), np.asarray(labels)
    if probabilities.ndim != 2 or len(probabilities) == 0 or labels.shape != probabilities.shape[:1]:
        raise InputError(
            f"Probabilities of the shape {probabilities.shape} and labels of the shape {labels.shape} "
            "don't belong together.",
            "Give one row of probabilities and one label for each of at least one bag.",
        )
    if labels.min() < 0 or labels.max() >= probabilities.shape[1]:
        raise InputError(
            "A calibration needs the true label of every bag.", "Leave out the bags whose label is unknown."
        )
    return probabilities, labels


EDGES = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0)
"""Finer where answers are sure, since that is what a person acts on."""


@dataclass(frozen=True)
class ConfidenceBin:
    """Answers with a probability from `low` up to, but not including, `high` (the last bin includes it)."""

    __pydantic_config__ = STRICT

    low: Share
    high: Share
    n: Count
    right: Whole


@dataclass(frozen=True)
class Reliability:
    """The confidence bins that hold answers, from unsure to sure, and which bags the answers were about."""

    __pydantic_config__ = STRICT

    bins: tuple[ConfidenceBin, ...]
    on: str

    def bin_of(self, probability: float) -> ConfidenceBin | None:
        """The bin an answer of this probability belongs to; None where no held-out answer was like it."""
        for one in self.bins:
            if one.low <= probability < one.high or one.high == 1 <= probability:
                return one
        return None

    def sentence(self, probability: float) -> str:
        """How often the model was right when it was this sure, for a person."""
        found = self.bin_of(probability)
        if found is None:
            return f"None of its answers on {self.on} was as sure as this one, so nobody knows how often it is right."
        return (
            f"Of its answers on {self.on} that were this sure ({100 * found.low:.0f} to {100 * found.high:.0f} %), "
            f"{100 * found.right / found.n:.0f} % were right (n = {found.n:,})."
        )


def count_reliability(probabilities: np.ndarray, labels: np.ndarray, on: str) -> Reliability:
    """Count calibrated probabilities (m, k) of held-out bags and their true labels (m,)."""
    confidence, right = probabilities.max(axis=1), probabilities.argmax(axis=1) == labels
    bin_of = np.clip(np.searchsorted(EDGES, confidence, side="right") - 1, 0, len(EDGES) - 2)
    bins = [
        ConfidenceBin(EDGES[i], EDGES[i + 1], int((bin_of == i).sum()), int(right[bin_of == i].sum()))
        for i in np.unique(bin_of)
    ]
    return Reliability(tuple(bins), on)
