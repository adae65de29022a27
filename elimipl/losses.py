"""Equations 5–9 for a batch of bags, each with its gradient, from the energies e whose softmax is p.

Every function returns its value and its derivative by the energies (B, k). The derivatives are short closed
forms, which stay finite for any finite energies and spare most of the cost of differentiating small tensors.
Shapes: candidates (B, k) bool, at least one True a row; weights (B, k), zero off the candidates.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from elimipl.config import Config
from elimipl.network import BagOutputs

ValueAndGradient = tuple[Tensor, Tensor]


class Losses(NamedTuple):
    """The parts of eq. 9, unweighted, and their weighted sum."""

    mapping: Tensor
    sparsity: Tensor
    inhibition: Tensor
    attention: Tensor
    total: Tensor


class LossGradients(NamedTuple):
    """The derivative of the total by what the network gave out."""

    energies: Tensor  # (B, k)
    scores: Tensor | None  # (N,), None where the loss doesn't look at the attention


@torch.no_grad()
def cli_loss(outputs: BagOutputs, candidates: Tensor, weights: Tensor, config: Config) -> tuple[Losses, LossGradients]:
    """L = L_ma + μ L_sp + γ L_in (eq. 9), plus λ_a times DEMIPL's attention entropy. Unused parts are 0."""
    energies = outputs.energies
    total, gradient = mapping_loss(energies, weights)
    mapping, by_scores = total, None
    sparsity = inhibition = attention = energies.new_zeros(())
    if config.mu > 0 and config.sparsity != "none":
        loss = l1_sparsity if config.sparsity == "l1" else entropy_sparsity
        sparsity, part = loss(energies, candidates)
        total, gradient = total.add(sparsity, alpha=config.mu), gradient.add_(part, alpha=config.mu)
    if config.gamma > 0:
        inhibition, part = inhibition_loss(energies, candidates)
        total, gradient = total.add(inhibition, alpha=config.gamma), gradient.add_(part, alpha=config.gamma)
    if config.attention_entropy > 0:
        attention, part = attention_entropy(outputs.scores, len(energies))
        total, by_scores = total.add(attention, alpha=config.attention_entropy), part * config.attention_entropy
    return Losses(mapping, sparsity, inhibition, attention, total), LossGradients(gradient, by_scores)


def mapping_loss(energies: Tensor, weights: Tensor) -> ValueAndGradient:
    """−(1/B) Σ_i Σ_{c∈S_i} w_ic log p_ic (eq. 5)."""
    log_p = energies.log_softmax(1)
    gradient = log_p.exp() * weights.sum(1, keepdim=True) - weights
    return -(weights * log_p).sum() / len(energies), gradient / len(energies)


def l1_sparsity(energies: Tensor, candidates: Tensor) -> ValueAndGradient:
    """(1/B) Σ_i ‖p_i ⊙ s_i‖₁, the paper's surrogate of eq. 7.

    Since p sums to one this is 1 − (mass off S): its derivative by p is the same for every candidate, so it
    can't favour one of them.
    """
    p = energies.softmax(1)
    mass = (p * candidates).sum(1, keepdim=True)
    return mass.sum() / len(energies), p * (candidates.to(p.dtype) - mass) / len(energies)


def entropy_sparsity(energies: Tensor, candidates: Tensor) -> ValueAndGradient:
    """(1/B) Σ_i H(q_i), q = p renormalised on S: least when one candidate holds all, as eq. 7 intends."""
    log_q = _only_candidates(energies, candidates).log_softmax(1)
    q = log_q.exp()
    entropy = -(q * log_q).sum(1, keepdim=True)
    return entropy.sum() / len(energies), -q * (log_q + entropy) / len(energies)


def inhibition_loss(energies: Tensor, candidates: Tensor) -> ValueAndGradient:
    """−(1/B) Σ_i Σ_{c∉S_i} log(1 − p_ic) (eq. 8).

    1 − p_c is the share of the other classes, so log(1 − p_c) = log Σ_{j≠c} exp(e_j) − log Σ_j exp(e_j): exact
    even where p_c rounds to one.
    """
    k = energies.shape[1]
    outside = (~candidates).to(energies.dtype)  # (B, k)
    itself = torch.eye(k, dtype=torch.bool, device=energies.device)
    others = energies.unsqueeze(1).masked_fill(itself, -torch.inf)  # (B, c, j), without class c itself
    log_complement = others.logsumexp(2) - energies.logsumexp(1, keepdim=True)
    towards = outside.sum(1, keepdim=True) * energies.softmax(1)
    away = torch.bmm(outside.unsqueeze(1), others.softmax(2)).squeeze(1)
    return -(outside * log_complement).sum() / len(energies), (towards - away) / len(energies)


def attention_entropy(scores: Tensor, bags: int) -> ValueAndGradient:
    """(1/B) Σ_i Σ_j −a_ij log a_ij with DEMIPL's unnormalised a = sigm(ξ); its derivative is by ξ (N,)."""
    a, log_a = scores.sigmoid(), functional.logsigmoid(scores)
    return -(a * log_a).sum() / bags, -a * (1 - a) * (log_a + 1) / bags


def candidate_distribution(energies: Tensor, candidates: Tensor) -> Tensor:
    """p_c / Σ_{c'∈S} p_c' on the candidates and 0 elsewhere: the second term of eq. 6."""
    return _only_candidates(energies, candidates).softmax(1)


def _only_candidates(energies: Tensor, candidates: Tensor) -> Tensor:
    # A finite floor instead of −inf: 0·(−inf) would make the entropy NaN.
    return energies.masked_fill(~candidates, torch.finfo(energies.dtype).min / 4)
