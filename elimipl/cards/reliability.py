"""How often a model is right when it is this sure: held-out answers counted by their confidence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bag_generators.validation import STRICT, Count, Share, Whole

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
