"""LWS (Wen et al. 2021), leveraged weighted sigmoid loss: candidates are pushed up, and all others pushed down."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from elimipl.methods.partial_label import PartialLabelConfig
from elimipl.model.losses import candidate_distribution
from elimipl.settings import number


@dataclass(frozen=True)
class LwsConfig(PartialLabelConfig):
    """SGD with momentum; the learning rate is halved again and again."""

    epochs: int = number(250, 1, 1_000_000)
    lr: float = number(0.1, 1e-9, 1e3)
    halve_every: int = number(50, 1, 1_000_000)
    """Epochs after which the learning rate is halved."""
    momentum: float = number(0.9, 0, 0.9999)
    weight_decay: float = number(1e-3, 0, 1e3)
    beta: float = number(1.0, 0, 1e6)
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
