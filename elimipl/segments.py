"""Sums and softmaxes over ragged bags stored one after the other: no padding and no loop over bags."""

from __future__ import annotations

import torch
from torch import Tensor


def segment_sum(values: Tensor, bag_of: Tensor, bags: int) -> Tensor:
    """Sum the rows of each bag: (N, …) values and (N,) bag numbers → (bags, …)."""
    return values.new_zeros((bags, *values.shape[1:])).index_add(0, bag_of, values)


def segment_softmax(scores: Tensor, bag_of: Tensor, bags: int) -> Tensor:
    """Softmax of (N,) scores within each bag; sums to one per bag, whatever the size of the scores."""
    peak = scores.detach().new_full((bags,), -torch.inf).scatter_reduce(0, bag_of, scores.detach(), "amax")
    weight = (scores - peak.index_select(0, bag_of)).exp()  # (N,)
    return weight / segment_sum(weight, bag_of, bags).index_select(0, bag_of)
