"""The momentum weights over the candidate labels (eq. 6), the belief in each candidate that training sharpens."""

from __future__ import annotations

from torch import Tensor

from elimipl.losses import candidate_distribution


def initial_weights(candidates: Tensor) -> Tensor:
    """w⁰ = 1/|S| on the candidates and 0 elsewhere: (m, k) bool → (m, k) float64."""
    return candidates.double() / candidates.sum(1, keepdim=True)


def updated_weights(weights: Tensor, energies: Tensor, candidates: Tensor, rho: float) -> Tensor:
    """w^t = ρ w^{t−1} + (1−ρ) p_c / Σ_{c'∈S} p_c' (eq. 6); no gradient flows through it. All (B, k)."""
    return rho * weights + (1 - rho) * candidate_distribution(energies.detach(), candidates)
