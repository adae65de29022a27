"""What held-out bags tell about a model: accuracy, calibration, label sets, how often it is right when it is sure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from elimipl.cards.calibration import Calibration, Reliability, calibrate, count_reliability, temper
from elimipl.cards.card import Accuracy
from elimipl.cards.conformal import (
    CANDIDATE_SETS,
    Conformal,
    fit_conformal,
    left_out_members,
    measure_coverage,
)

LEFT_OUT = "each tenth of them left out in turn"


@dataclass(frozen=True, eq=False)
class HeldOut:
    """What fitted models said about m bags they had not learned from."""

    probabilities: np.ndarray  # (m, k) as the head gives them
    labels: np.ndarray  # (m,) −1 = unknown
    called: str
    """What the bags are, as the end of a sentence."""
    candidates: np.ndarray | None = None  # (m, k) bool
    groups: np.ndarray | None = None  # (m,) equal for outputs about the same picture

    def where(self, chosen: np.ndarray) -> HeldOut:
        """The outputs for some of the bags."""
        return replace(
            self,
            probabilities=self.probabilities[chosen],
            labels=self.labels[chosen],
            candidates=None if self.candidates is None else self.candidates[chosen],
            groups=None if self.groups is None else self.groups[chosen],
        )

    def tempered(self, temperature: float) -> HeldOut:
        """The same with calibrated probabilities."""
        return replace(self, probabilities=temper(self.probabilities, temperature))


@dataclass(frozen=True, eq=False)
class Measured:
    """What was measured for a card; what is unknown is None."""

    accuracy: Accuracy | None = None
    calibration: Calibration | None = None
    conformal: Conformal | None = None
    conformal_by_candidates: Conformal | None = None
    reliability: Reliability | None = None

    def entries(self) -> dict[str, Any]:
        """The entries of the card by name."""
        return dict(vars(self))


def measure(
    outputs: HeldOut,
    accuracy: Accuracy | None = None,
    reported: HeldOut | None = None,
    shared_threshold: bool = False,
) -> Measured:
    """Calibrate and fit label sets on `outputs`, and measure them on `reported`: bags that nothing is fitted on.

    Without `reported` the coverage is that of left-out tenths of `outputs`, and accuracy and reliability are those on
    `outputs`. Without any true label there are label sets by candidates only, and nobody knows their coverage.
    With a `shared_threshold`, which takes `reported`, label sets are smaller and keep their promise on average over
    the classes only (`elimipl.cards.conformal`).
    """
    known = outputs.where(outputs.labels >= 0)
    calibration = calibrate(known.probabilities, known.labels, outputs.called) if len(known.labels) else None
    temperature = 1.0 if calibration is None else calibration.temperature
    outputs, known = outputs.tempered(temperature), known.tempered(temperature)
    seen = known if reported is None else reported.where(reported.labels >= 0).tempered(temperature)
    if accuracy is None and len(seen.labels):
        right = seen.probabilities.argmax(axis=1) == seen.labels
        accuracy = Accuracy(float(right.mean()), len(right), seen.called)
    return Measured(
        accuracy,
        calibration,
        _sets(known, known.labels, seen, reported is None, shared_threshold) if len(known.labels) else None,
        _sets_by_candidates(outputs, seen, reported is None),
        count_reliability(seen.probabilities, seen.labels, seen.called) if len(seen.labels) else None,
    )


def _sets(outputs: HeldOut, labels: np.ndarray, seen: HeldOut, are_same: bool, shared: bool = False) -> Conformal:
    """Label sets fitted by `labels`, true or not, with their coverage of the true labels of `seen`."""
    fitted = fit_conformal(outputs.probabilities, labels, outputs.called, outputs.groups, shared)
    if not len(seen.labels):
        return fitted
    if not are_same:
        coverage = measure_coverage(fitted.members(seen.probabilities), seen.labels, seen.called)
    else:
        known = outputs.labels >= 0
        members = left_out_members(outputs.probabilities, labels, outputs.groups)[known]
        coverage = measure_coverage(members, outputs.labels[known], f"{seen.called}, {LEFT_OUT}")
    return replace(fitted, coverage=coverage)


def _sets_by_candidates(outputs: HeldOut, seen: HeldOut, are_same: bool) -> Conformal | None:
    """None where every candidate set holds one label, which is the true one, or all, which says nothing."""
    if outputs.candidates is None or not (outputs.candidates.sum(axis=1) > 1).any():
        return None
    outputs = outputs.where(outputs.candidates.sum(axis=1) < outputs.candidates.shape[1])
    if outputs.candidates is None or not len(outputs.candidates):
        return None
    assumed = np.where(outputs.candidates, outputs.probabilities, -1.0).argmax(axis=1)  # the most probable of each
    return replace(_sets(outputs, assumed, seen, are_same), fitted_by=CANDIDATE_SETS)
