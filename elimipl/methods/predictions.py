"""What every comparison method hands back about bags."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elimipl.model.inference import share_correct


@dataclass(frozen=True, eq=False)
class Predictions:
    """Class probabilities of m bags."""

    probabilities: np.ndarray  # (m, k) float64, rows sum to one

    def accuracy(self, labels: np.ndarray) -> float | None:
        """Share of bags whose most probable class is the label; −1 labels don't count, None if all are."""
        return share_correct(self.probabilities, labels)
