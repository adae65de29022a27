"""The momentum weights of eq. 6: how much training believes in each candidate label."""

from __future__ import annotations

import torch
from torch import Tensor

from elimipl.model.losses import candidate_distribution


def initial_weights(candidates: Tensor, dtype: torch.dtype = torch.float64) -> Tensor:
    """w⁰ = 1/|S| on the candidates and 0 elsewhere, for (m, k) bool candidates."""
    return candidates.to(dtype) / candidates.sum(1, keepdim=True)


def move_weights(weights: Tensor, energies: Tensor, candidates: Tensor, rho: float) -> None:
    """w^t = ρ w^{t−1} + (1−ρ) p_c / Σ_{c'∈S} p_c' (eq. 6), in place; all (B, k)."""
    weights.lerp_(candidate_distribution(energies, candidates), 1 - rho)
