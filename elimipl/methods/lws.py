"""LWS (Wen et al. 2021), leveraged weighted sigmoid loss: candidates are pushed up, and all others pushed down."""

from __future__ import annotations

import torch
from pydantic import Field
from torch import Tensor, nn

from elimipl.methods.partial_label import PartialLabelConfig
from elimipl.model.losses import candidate_distribution


class LwsConfig(PartialLabelConfig):
    """SGD with momentum; the learning rate is halved again and again."""

    epochs: int = Field(250, ge=1, le=1_000_000)
    lr: float = Field(0.1, ge=1e-9, le=1e3)
    halve_every: int = Field(50, ge=1, le=1_000_000)
    """Epochs after which the learning rate is halved."""
    momentum: float = Field(0.9, ge=0, le=0.9999)
    weight_decay: float = Field(1e-3, ge=0, le=1e3)
    beta: float = Field(1.0, ge=0, le=1e6)
    """Leverage β of the labels outside S; 1 or 2 are usual."""

    def learning_rate(self, epoch: int) -> float:
        """lr at epoch 1, lr/2 after `halve_every` epochs, and so on."""
        return self.lr * 0.5 ** ((epoch - 1) // self.halve_every)

    def criterion(self) -> LeveragedLoss:
        """The leveraged sigmoid loss."""
        return LeveragedLoss(self.beta)

    def optimizer(self, backbone: nn.Module) -> torch.optim.SGD:
        """SGD with momentum."""
        return torch.optim.SGD(backbone.parameters(), self.lr, self.momentum, weight_decay=self.weight_decay)


class LeveragedLoss:
    """(1/B) Σ_i [Σ_{c∈S} w_c ψ(g_c) + β Σ_{c∉S} w_c ψ(−g_c)] with ψ(t) = 1/(1 + e^t).

    The weights are softmax(g) renormalised inside S and, apart from that, outside S; they follow a fresh forward
    pass after each step.
    """

    moves_after_step = True

    def __init__(self, beta: float) -> None:
        self.beta = beta

    def loss(self, logits: Tensor, candidates: Tensor, weights: Tensor) -> Tensor:
        """The mean loss of the bags."""
        inside = candidates * (weights * (-logits).sigmoid())
        outside = ~candidates * (weights * logits.sigmoid())
        return (inside.sum() + self.beta * outside.sum()) / len(logits)

    def moved_weights(self, logits: Tensor, candidates: Tensor) -> Tensor:
        """softmax(g), renormalised on either side of the border of S; 0 outside when S holds every class."""
        inside, outside = (candidate_distribution(logits, side) for side in (candidates, ~candidates))
        return torch.where(candidates, inside, outside)
