"""ψ1 for bags whose instances mean little alone: every instance learns what its bag looks like."""

from __future__ import annotations

import torch
from torch import Tensor

_TINY = 1e-6
"""Keeps the slope of the square root finite where a bag's instances are all alike."""


def with_context(x: Tensor, bag_of: Tensor, bags: int) -> Tensor:
    """x_j ↦ [x_j, mean of its bag, standard deviation of its bag].

    x (N, d), bag_of (N,) in 0..bags−1 → (N, 3d). A slide's stain shifts all instances of a bag alike; beside the
    mean an instance can be read as what it is in its picture, not as what it is on that slide.
    """
    count = torch.bincount(bag_of, minlength=bags).to(x.dtype)[:, None]  # (bags, 1)
    mean = x.new_zeros(bags, x.shape[1]).index_add_(0, bag_of, x) / count
    centred = x - mean.index_select(0, bag_of)
    variance = x.new_zeros(bags, x.shape[1]).index_add_(0, bag_of, centred.square()) / count
    bag = torch.cat([mean, (variance + _TINY).sqrt()], dim=1)  # (bags, 2d)
    return torch.cat([x, bag.index_select(0, bag_of)], dim=1)
