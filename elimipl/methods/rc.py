"""RC (Feng et al. 2020), the risk-consistent learner: PRODEN's loss with weights recomputed after each step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from elimipl.dataset import BagDataset
from elimipl.methods.descent import Adam
from elimipl.methods.partial_label import FittedPartialLabels, PartialLabelConfig, fit_partial_labels
from elimipl.methods.proden import WeightedCrossEntropy
from elimipl.methods.settings import number
from elimipl.reports import EpochReport


@dataclass(frozen=True)
class RcConfig(PartialLabelConfig):
    """Adam."""

    epochs: int = number(250, 1, 1_000_000)
    lr: float = number(1e-3, 1e-9, 1e3)
    weight_decay: float = number(1e-5, 0, 1e3)


def fit(
    dataset: BagDataset,
    config: RcConfig,
    *,
    on_epoch: Callable[[EpochReport], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
    device: str = "auto",
) -> FittedPartialLabels:
    """Train RC on bag features (see `fit_partial_labels`)."""
    return fit_partial_labels(
        dataset,
        config,
        WeightedCrossEntropy(moves_after_step=True),
        lambda parameters: Adam(parameters, config.weight_decay),
        on_epoch=on_epoch,
        should_stop=should_stop,
        device=device,
    )
