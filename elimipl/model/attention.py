"""Equations 3 and 4 over ragged bags stored one after the other: no padding and no loop over bags."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable


def attention_pool(scores: Tensor, votes: Tensor, bag_of: Tensor, bags: int) -> tuple[Tensor, Tensor]:
    """Softmax of the scores within each bag, and the sums of the votes it weighs.

    scores (N,), votes (N, k), bag_of (N,) in 0..bags−1 → pooled (bags, k), attention (N,), which sums to one
    in each bag whatever the size of the scores.
    """
    return _AttentionPool.apply(scores, votes, bag_of, bags)


def softmax_by_bag(scores: Tensor, bag_of: Tensor, bags: int) -> Tensor:
    """Softmax within each bag of scores (N,), or of every column of (N, c), left to autograd."""
    of = bag_of if scores.ndim == 1 else bag_of[:, None].expand_as(scores)
    lowest = scores.detach().new_full((bags, *scores.shape[1:]), -torch.inf)
    peak = lowest.scatter_reduce(0, of, scores.detach(), "amax")
    raised = (scores - peak.index_select(0, bag_of)).exp()
    return raised / torch.zeros_like(peak).index_add(0, bag_of, raised).index_select(0, bag_of)


def standardise_by_bag(scores: Tensor, bag_of: Tensor, bags: int) -> Tensor:
    """(ξ − mean)/(deviation + 1e-8) within each bag, as MIPLMA's code has it: (N,).

    The deviation (n − 1 in its denominator) counts as a constant; a bag of one instance has 0.
    """
    count = torch.bincount(bag_of, minlength=bags).to(scores.dtype)  # (bags,)
    mean = scores.new_zeros(bags).index_add(0, bag_of, scores) / count
    centred = scores - mean.index_select(0, bag_of)
    squares = _sum_by_bag(centred.detach().square(), bag_of, bags)
    deviation = (squares / (count - 1).clamp_min(1)).sqrt()
    return centred / (deviation + 1e-8).index_select(0, bag_of)


def _sum_by_bag(values: Tensor, bag_of: Tensor, bags: int) -> Tensor:
    return values.new_zeros((bags, *values.shape[1:])).index_add_(0, bag_of, values)


class _AttentionPool(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, scores: Tensor, votes: Tensor, bag_of: Tensor, bags: int) -> tuple[Tensor, Tensor]:
        peak = scores.new_full((bags,), -torch.inf).scatter_reduce_(0, bag_of, scores, "amax")
        attention = (scores - peak.index_select(0, bag_of)).exp_()
        attention /= _sum_by_bag(attention, bag_of, bags).index_select(0, bag_of)
        ctx.bags = bags
        ctx.save_for_backward(attention, votes, bag_of)
        ctx.set_materialize_grads(False)
        return _sum_by_bag(attention[:, None] * votes, bag_of, bags), attention

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, by_pooled: Tensor | None, by_attention: Tensor | None) -> tuple[Tensor | None, ...]:
        attention, votes, bag_of = ctx.saved_tensors
        slope = torch.zeros_like(attention) if by_attention is None else by_attention
        by_votes = None
        if by_pooled is not None:
            pulled = by_pooled.index_select(0, bag_of)  # (N, k)
            by_votes = attention[:, None] * pulled
            slope = slope + (votes * pulled).sum(1)
        slope = slope * attention
        by_scores = slope - attention * _sum_by_bag(slope, bag_of, ctx.bags).index_select(0, bag_of)
        return by_scores, by_votes, None, None
