"""PRODEN (Lv et al. 2020): weighted cross-entropy whose weights follow the outputs of each step."""

from __future__ import annotations

import torch
from pydantic import Field
from torch import Tensor, nn

from elimipl.methods.partial_label import PartialLabelConfig
from elimipl.model.losses import candidate_distribution, mapping_loss


class ProdenConfig(PartialLabelConfig):
    """SGD with momentum; learning rates of 1e-3 to 1e-2 are usual."""

    epochs: int = Field(500, ge=1, le=1_000_000)
    lr: float = Field(0.01, ge=1e-9, le=1e3)
    momentum: float = Field(0.9, ge=0, le=0.9999)
    weight_decay: float = Field(1e-3, ge=0, le=1e3)

    def criterion(self) -> WeightedCrossEntropy:
        """The weights follow the outputs that a step was made from."""
        return WeightedCrossEntropy(moves_after_step=False)

    def optimizer(self, backbone: nn.Module) -> torch.optim.SGD:
        """SGD with momentum."""
        return torch.optim.SGD(backbone.parameters(), self.lr, self.momentum, weight_decay=self.weight_decay)


class WeightedCrossEntropy:
    """−(1/B) Σ_i Σ_{c∈S_i} w_ic log p_ic with p = softmax(g); then w = p on S, renormalised."""

    def __init__(self, moves_after_step: bool) -> None:
        self.moves_after_step = moves_after_step

    def loss(self, logits: Tensor, candidates: Tensor, weights: Tensor) -> Tensor:
        """The mean loss of the bags; the weights are 0 off S."""
        return mapping_loss(logits.log_softmax(1), weights)

    def moved_weights(self, logits: Tensor, candidates: Tensor) -> Tensor:
        """p ⊙ s / Σ(p ⊙ s)."""
        return candidate_distribution(logits, candidates)
