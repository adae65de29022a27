"""What training tells whoever is watching, once an epoch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Snapshot:
    """How every training bag stood in an epoch, in the order of the data set."""

    probabilities: np.ndarray  # (m, k) as seen by the loss, dropout included
    weights: np.ndarray  # (m, k) disambiguation weights after the epoch


@dataclass(frozen=True)
class EpochReport:
    """One finished epoch. Accuracies are None where no true label is known (or nothing was held out)."""

    epoch: int
    epochs: int
    losses: Mapping[str, float]
    """Mean over the bags: mapping, sparsity, inhibition and attention (unweighted), and the total."""
    train_accuracy: float | None
    held_out_accuracy: float | None
    disambiguation_accuracy: float | None
    """Share of training bags whose heaviest candidate is the true label."""
    lr: float
    seconds: float
    snapshot: Snapshot | None = None
    """Only in the report given to `on_epoch`, not in the history."""
