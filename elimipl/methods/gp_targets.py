"""Candidate sets of instances as targets of Gaussian-process regression (MIPLGP, after Milios et al. 2018).

An instance inherits the candidate set of its bag and a further class, "negative", for instances that show none of
the bag's labels: S' = S ∪ {negative}, as column k of (N, k + 1) bool.
"""

from __future__ import annotations

import torch
from torch import Tensor

from elimipl.dataset import BagDataset


def augmented_candidates(dataset: BagDataset) -> Tensor:
    """S' of every instance, (N, k + 1) bool."""
    bags = torch.from_numpy(dataset.candidates.copy())
    negative = torch.ones(len(dataset), 1, dtype=torch.bool)
    return torch.cat([bags, negative], 1).repeat_interleave(torch.from_numpy(dataset.sizes.copy()), 0)


def initial_concentrations(candidates: Tensor, epsilon: float) -> Tensor:
    """α = ε + [c∈S']/|S'| of a Dirichlet distribution over the classes."""
    return epsilon + candidates.double() / candidates.sum(1, keepdim=True)


def disambiguated_concentrations(means: Tensor, candidates: Tensor, epsilon: float) -> Tensor:
    """α = ε + the softmax of Gaussian-process means within S'."""
    return epsilon + means.expand(candidates.shape).masked_fill(~candidates, -torch.inf).softmax(1)


def log_normal_targets(concentrations: Tensor) -> tuple[Tensor, Tensor]:
    """The log-normal with the moments of Gamma(α, 1): mean y = log α − σ²/2 and variance σ² = log(1/α + 1)."""
    variance = (1 / concentrations + 1).log()
    return concentrations.log() - variance / 2, variance
