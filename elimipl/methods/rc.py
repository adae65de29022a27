"""RC (Feng et al. 2020), the risk-consistent learner: PRODEN's loss with weights recomputed after each step."""

from __future__ import annotations

import torch
from pydantic import Field
from torch import nn

from elimipl.methods.partial_label import PartialLabelConfig
from elimipl.methods.proden import WeightedCrossEntropy


class RcConfig(PartialLabelConfig):
    """Adam."""

    epochs: int = Field(250, ge=1, le=1_000_000)
    lr: float = Field(1e-3, ge=1e-9, le=1e3)
    weight_decay: float = Field(1e-5, ge=0, le=1e3)

    def criterion(self) -> WeightedCrossEntropy:
        """The weights follow a fresh forward pass after each step."""
        return WeightedCrossEntropy(moves_after_step=True)

    def optimizer(self, backbone: nn.Module) -> torch.optim.Adam:
        """Adam with its usual β = (.9, .999)."""
        return torch.optim.Adam(backbone.parameters(), self.lr, weight_decay=self.weight_decay)
