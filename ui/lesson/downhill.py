"""Gradient descent on the probabilities of one bag, under the losses that training itself uses."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from elimipl.model.losses import (
    entropy_gradient,
    entropy_sparsity,
    inhibition_gradient,
    inhibition_loss,
    l1_gradient,
    l1_sparsity,
    mapping_loss,
)

LONG_STEP = 2.0
STEP_SIZE = 0.6
PARTS = ("mapping", "sparsity", "inhibition")


@dataclass(frozen=True, eq=False)
class Walks:
    """Descents for every pair of μ and γ, one after the other; γ runs faster."""

    probabilities: np.ndarray  # (pairs, steps + 1, k)
    ahead: np.ndarray  # (pairs, steps + 1, k): after one long step from there
    losses: np.ndarray  # (pairs, steps + 1, 3): the three losses without their weights


def gradients(energies: Tensor, candidates: Tensor, weights: Tensor, sparsity: str) -> tuple[Tensor, Tensor, Tensor]:
    """Derivatives of the three losses by the energies, each (m, k) and of every bag alone."""
    log_p = energies.log_softmax(1)
    p = log_p.exp()
    sparse = l1_gradient(p, candidates) if sparsity == "l1" else entropy_gradient(log_p, candidates)
    return p - weights, sparse, inhibition_gradient(log_p, p, candidates)


def walk(
    start: np.ndarray,
    candidates: np.ndarray,
    factors: Sequence[tuple[float, float, float]],
    sparsity: str,
    steps: int,
) -> Walks:
    """Descend from the energies `start` (k,) with an even belief; `factors` weigh mapping, sparsity and inhibition."""
    m = len(factors)
    energies = torch.tensor(start, dtype=torch.float64).repeat(m, 1)
    s = torch.tensor(candidates).repeat(m, 1)
    w = (s / s.sum(1, keepdim=True)).double()
    scale = torch.tensor(factors, dtype=torch.float64).T[:, :, None]  # (3, m, 1)
    at, ahead, losses = [], [], []
    for _ in range(steps + 1):
        pull = (torch.stack(gradients(energies, s, w, sparsity)) * scale).sum(0)
        at.append(energies.softmax(1).numpy())
        ahead.append((energies - LONG_STEP * pull).softmax(1).numpy())
        losses.append(np.array([_values(one[None], s[:1], w[:1], sparsity) for one in energies.log_softmax(1)]))
        energies = energies - STEP_SIZE * pull
    return Walks(*(np.stack(part, axis=1) for part in (at, ahead, losses)))


def descend(start: np.ndarray, candidates: np.ndarray, sparsity: str, gamma: float, steps: int) -> np.ndarray:
    """Probabilities (steps + 1, k) while a sparsity loss, with γ times inhibition, is minimised from `start` (k,)."""
    return walk(np.log(start), candidates, [(0.0, 1.0, gamma)], sparsity, steps).probabilities[0]


def _values(log_p: Tensor, candidates: Tensor, weights: Tensor, sparsity: str) -> tuple[float, float, float]:
    sparse = l1_sparsity if sparsity == "l1" else entropy_sparsity
    return (
        mapping_loss(log_p, weights).item(),
        sparse(log_p, candidates).item(),
        inhibition_loss(log_p, candidates).item(),
    )
