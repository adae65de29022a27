"""Gradient descent on the probabilities of one bag, under the losses that training itself uses."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch

from elimipl.model.losses import entropy_sparsity, inhibition_loss, l1_sparsity, mapping_loss

SPARSITIES = {"l1": l1_sparsity, "entropy": entropy_sparsity}
STEP_SIZE = 0.6


@dataclass(frozen=True, eq=False)
class Pull:
    """One loss at one place: its value, and its derivative by the energies (k,)."""

    value: float
    gradient: np.ndarray

    def scaled(self, factor: float) -> "Pull":
        return Pull(factor * self.value, factor * self.gradient)

    def __add__(self, other: "Pull") -> "Pull":
        return Pull(self.value + other.value, self.gradient + other.gradient)


def pulls(
    energies: np.ndarray, candidates: np.ndarray, weights: np.ndarray, mu: float, gamma: float, sparsity: str = "l1"
) -> Mapping[str, Pull]:
    """The three losses unweighted, and “total” = L_ma + μ L_sp + γ L_in. All arrays are (k,)."""
    e = torch.tensor(energies, dtype=torch.float64)[None].requires_grad_()
    s, w = torch.tensor(candidates)[None], torch.tensor(weights, dtype=torch.float64)[None]
    log_p = e.log_softmax(1)
    values = {
        "mapping": mapping_loss(log_p, w),
        "sparsity": SPARSITIES[sparsity](log_p, s),
        "inhibition": inhibition_loss(log_p, s),
    }
    parts = {name: _pull(value, e) for name, value in values.items()}
    total = parts["mapping"] + parts["sparsity"].scaled(mu) + parts["inhibition"].scaled(gamma)
    return {**parts, "total": total}


def step_down(energies: np.ndarray, pull: Pull, size: float = STEP_SIZE) -> np.ndarray:
    """The energies after one step of gradient descent."""
    return energies - size * pull.gradient


def descend(start: np.ndarray, candidates: np.ndarray, sparsity: str, gamma: float, steps: int) -> np.ndarray:
    """Probabilities (steps + 1, k) while a sparsity loss, with γ times inhibition, is minimised from `start` (k,)."""
    energies = np.log(start)
    path = [start]
    for _ in range(steps):
        parts = pulls(energies, candidates, np.zeros_like(start), 0.0, gamma, sparsity)
        energies = step_down(energies, parts["sparsity"] + parts["inhibition"].scaled(gamma))
        path.append(probabilities(energies))
    return np.array(path)


def probabilities(energies: np.ndarray) -> np.ndarray:
    """Softmax of (k,) energies."""
    exponents = np.exp(energies - energies.max())
    return exponents / exponents.sum()


def _pull(value: torch.Tensor, energies: torch.Tensor) -> Pull:
    (gradient,) = torch.autograd.grad(value, energies, retain_graph=True)
    return Pull(value.item(), gradient[0].numpy())
