"""Equations 5–9 for a batch of bags, from the energies e whose softmax is p; finite for finite energies.

Shapes: energies (B, k); candidates (B, k) bool, at least one True a row; weights (B, k), zero off the candidates.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from elimipl.config import Config
from elimipl.network import BagOutputs


class Losses(NamedTuple):
    """The parts of eq. 9, unweighted, and their weighted sum."""

    mapping: Tensor
    sparsity: Tensor
    inhibition: Tensor
    attention: Tensor
    total: Tensor


def cli_loss(outputs: BagOutputs, candidates: Tensor, weights: Tensor, config: Config) -> Losses:
    """L = L_ma + μ L_sp + γ L_in (eq. 9), plus λ_a times DEMIPL's attention entropy. Unused parts are 0."""
    energies = outputs.energies
    zero = energies.new_zeros(())
    mapping = mapping_loss(energies, weights)
    sparsity = inhibition = attention = zero
    if config.mu > 0 and config.sparsity != "none":
        sparsity = (l1_sparsity if config.sparsity == "l1" else entropy_sparsity)(energies, candidates)
    if config.gamma > 0:
        inhibition = inhibition_loss(energies, candidates)
    if config.attention_entropy > 0:
        attention = attention_entropy(outputs.scores, len(energies))
    total = mapping + config.mu * sparsity + config.gamma * inhibition + config.attention_entropy * attention
    return Losses(mapping, sparsity, inhibition, attention, total)


def mapping_loss(energies: Tensor, weights: Tensor) -> Tensor:
    """−(1/B) Σ_i Σ_{c∈S_i} w_ic log p_ic (eq. 5)."""
    return -(weights * energies.log_softmax(1)).sum() / len(energies)


def l1_sparsity(energies: Tensor, candidates: Tensor) -> Tensor:
    """(1/B) Σ_i ‖p_i ⊙ s_i‖₁, the paper's surrogate of eq. 7.

    Since p sums to one this is 1 − (mass off S): every candidate gets the same pull, so none is favoured.
    """
    return (energies.softmax(1) * candidates).sum() / len(energies)


def entropy_sparsity(energies: Tensor, candidates: Tensor) -> Tensor:
    """(1/B) Σ_i H(q_i), q = p renormalised on S: least when one candidate holds all, as eq. 7 intends."""
    masked = _only_candidates(energies, candidates)
    return -(masked.softmax(1) * masked.log_softmax(1)).sum() / len(energies)


def inhibition_loss(energies: Tensor, candidates: Tensor) -> Tensor:
    """−(1/B) Σ_i Σ_{c∉S_i} log(1 − p_ic) (eq. 8)."""
    return -(log_complement(energies) * ~candidates).sum() / len(energies)


def attention_entropy(scores: Tensor, bags: int) -> Tensor:
    """(1/B) Σ_i Σ_j −a_ij log a_ij with DEMIPL's unnormalised a = sigm(ξ)."""
    return -(scores.sigmoid() * functional.logsigmoid(scores)).sum() / bags


def log_complement(energies: Tensor) -> Tensor:
    """log(1 − softmax(e)) as log Σ_{j≠c} exp(e_j) − log Σ_j exp(e_j), exact even where p rounds to one."""
    itself = torch.eye(energies.shape[1], dtype=torch.bool, device=energies.device)
    others = energies.unsqueeze(1).masked_fill(itself, -torch.inf)  # (B, k, k)
    return others.logsumexp(2) - energies.logsumexp(1, keepdim=True)


def candidate_distribution(energies: Tensor, candidates: Tensor) -> Tensor:
    """p_c / Σ_{c'∈S} p_c' on the candidates and 0 elsewhere: the second term of eq. 6."""
    return _only_candidates(energies, candidates).softmax(1) * candidates


def _only_candidates(energies: Tensor, candidates: Tensor) -> Tensor:
    # A finite floor instead of −inf: 0·(−inf) would make the entropy NaN.
    return energies.masked_fill(~candidates, torch.finfo(energies.dtype).min / 4)
