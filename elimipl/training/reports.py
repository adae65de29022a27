"""What training reports after every epoch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from elimipl.model.network import Network


@dataclass(frozen=True, eq=False)
class Snapshot:
    """How every training bag stood in an epoch, in the order of the data set."""

    probabilities: np.ndarray  # (m, k) as seen by the loss, dropout included
    weights: np.ndarray  # (m, k) disambiguation weights after the epoch
    network: Network  # after the epoch; training goes on with it, so copy what you want to keep


@dataclass(frozen=True)
class EpochReport:
    """One finished epoch. Accuracies are None where no true label is known (or nothing was held out)."""

    epoch: int
    epochs: int
    losses: Mapping[str, float]
    """Mean over the bags: mapping, sparsity, inhibition and attention (unweighted), and the total.

    A loss of others has only a total, and attention if it is in use.
    """
    train_accuracy: float | None
    held_out_accuracy: float | None
    disambiguation_accuracy: float | None
    """Share of training bags whose heaviest candidate is the true label."""
    lr: float
    seconds: float
    snapshot: Snapshot | None = None
    """Only in the report given to `on_epoch`, not in the history."""

    @property
    def network(self) -> Network | None:
        """The network that is being trained; None in the history and for methods without one."""
        return None if self.snapshot is None else self.snapshot.network
