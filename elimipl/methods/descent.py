"""Gradient steps on one flat vector, number for number those of `torch.optim`."""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor


class Descent(Protocol):
    """Moves `parameters` in place."""

    def step(self, parameters: Tensor, gradient: Tensor, lr: float) -> None:
        """One step down the gradient."""


class Momentum:
    """SGD with momentum and weight decay."""

    def __init__(self, parameters: Tensor, momentum: float, weight_decay: float) -> None:
        self.momentum, self.weight_decay = momentum, weight_decay
        self._velocity = torch.zeros_like(parameters)

    def step(self, parameters: Tensor, gradient: Tensor, lr: float) -> None:
        """v ← momentum·v + g + decay·θ; θ ← θ − lr·v."""
        self._velocity.mul_(self.momentum).add_(gradient).add_(parameters, alpha=self.weight_decay)
        parameters.sub_(self._velocity, alpha=lr)


class Adam:
    """Adam with its usual β = (.9, .999); weight decay is added to the gradient."""

    def __init__(self, parameters: Tensor, weight_decay: float) -> None:
        self.weight_decay = weight_decay
        self._first, self._second = torch.zeros_like(parameters), torch.zeros_like(parameters)
        self._steps = 0

    def step(self, parameters: Tensor, gradient: Tensor, lr: float) -> None:
        """θ ← θ − lr · m̂ / (√v̂ + 1e-8)."""
        self._steps += 1
        gradient = gradient.add(parameters, alpha=self.weight_decay)
        self._first.lerp_(gradient, 0.1)
        self._second.mul_(0.999).addcmul_(gradient, gradient, value=0.001)
        size = (self._second / (1 - 0.999**self._steps)).sqrt_().add_(1e-8)
        parameters.addcdiv_(self._first, size, value=-lr / (1 - 0.9**self._steps))
