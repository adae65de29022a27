"""The classifier of the partial-label learners: a linear map, or one hidden layer in front of it.

Derivatives are written out, on one flat vector: at the size of bag features, building and walking a graph of
operations would take most of the time of a step.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import torch
from torch import Tensor


class Backbone:
    """x ↦ logits through layers of the given widths, ReLU between them. All weights are views of `parameters`."""

    def __init__(self, widths: Sequence[int], generator: torch.Generator, like: Tensor) -> None:
        shapes = list(itertools.pairwise(widths))
        self.parameters = like.new_empty(sum((rows + 1) * columns for rows, columns in shapes))
        self._layers = []
        start = 0
        for rows, columns in shapes:  # uniform within ±1/√rows, as torch's own linear layers start
            end = start + (rows + 1) * columns
            layer = self.parameters[start:end].view(rows + 1, columns)
            drawn = torch.rand(layer.shape, generator=generator, dtype=torch.float64)
            layer.copy_((2 * drawn - 1) / math.sqrt(rows))
            self._layers.append((layer[:-1], layer[-1]))
            start = end
        self._inputs: list[Tensor] = []

    def logits(self, x: Tensor) -> Tensor:
        """(B, k) for (B, d)."""
        self._inputs = [x]
        for weight, bias in self._layers[:-1]:
            self._inputs.append(torch.addmm(bias, self._inputs[-1], weight).relu_())
        weight, bias = self._layers[-1]
        return torch.addmm(bias, self._inputs[-1], weight)

    def gradient(self, slope: Tensor) -> Tensor:
        """Derivative of a loss by `parameters`, given its derivative (B, k) by the logits computed last."""
        parts: list[Tensor] = []
        for depth in reversed(range(len(self._layers))):
            entered = self._inputs[depth]
            parts[:0] = [(entered.T @ slope).flatten(), slope.sum(0)]
            if depth > 0:
                slope = (slope @ self._layers[depth][0].T).mul_(entered > 0)
        return torch.cat(parts)
