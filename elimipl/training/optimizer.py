"""Stochastic gradient descent on one flat vector: the whole network moves in a handful of calls a step."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn


class FlatSGD:
    """The SGD of `torch.optim` (momentum, Nesterov, weight decay) and gradient clipping, on one vector.

    The parameters of the network become views of `parameters`, so both always hold the same numbers.
    """

    def __init__(
        self, network: nn.Module, momentum: float, nesterov: bool, weight_decay: float, clip: float = 0.0
    ) -> None:
        self.momentum, self.nesterov, self.weight_decay, self.clip = momentum, nesterov, weight_decay, clip
        self._views = list(network.parameters())
        self.parameters = torch.cat([view.detach().flatten() for view in self._views])
        self.velocity = torch.zeros_like(self.parameters)
        parts = self.parameters.split([view.numel() for view in self._views])
        for view, part in zip(self._views, parts, strict=True):
            view.data = part.view_as(view)

    def step(
        self,
        outputs: Sequence[Tensor],
        gradients_of_loss: Sequence[Tensor],
        lr: float,
        sum_: Callable[[Tensor], object] | None = None,
    ) -> None:
        """Move every parameter downhill, given the derivatives of the loss by some outputs of the network.

        `sum_` adds in place what other processes found.
        """
        gradients = torch.autograd.grad(outputs, self._views, gradients_of_loss)
        gradient = torch.cat([part.reshape(-1) for part in gradients])
        if sum_ is not None:
            sum_(gradient)
        if self.clip > 0:
            gradient.mul_((self.clip / gradient.norm()).clamp_(max=1))
        gradient.add_(self.parameters, alpha=self.weight_decay)
        self.velocity.mul_(self.momentum).add_(gradient)
        direction = gradient.add_(self.velocity, alpha=self.momentum) if self.nesterov else self.velocity
        self.parameters.sub_(direction, alpha=lr)
