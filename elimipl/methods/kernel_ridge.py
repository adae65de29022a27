"""Kernel ridge regression with a bias that is not penalised."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


def squared_distances(x: Tensor, z: Tensor) -> Tensor:
    """‖x_i − z_j‖², (n, m); exactly 0 at the least."""
    products = x @ z.T
    return products.mul_(-2).add_(x.square().sum(1)[:, None]).add_(z.square().sum(1)).clamp_(min=0)


@dataclass(frozen=True, eq=False)
class Gaussian:
    """k(x, z) = exp(−‖x − z‖²/2σ²)."""

    width: float

    def of(self, squared: Tensor) -> Tensor:
        """The kernel of squared distances, in their place."""
        return squared.mul_(-0.5 / self.width**2).exp_()


class KernelRidge:
    """min ‖K A + 1bᵀ − F‖² + γ tr(AᵀKA) for many right-hand sides F (m, k); the kernel is factored once."""

    def __init__(self, kernel: Tensor, penalty: float) -> None:
        self._kernel = kernel
        lifted = kernel.clone()
        lifted.diagonal().add_(penalty)
        self._factor = torch.linalg.cholesky(lifted, out=lifted)
        ones = kernel.new_ones(len(kernel), 1)
        self._of_ones = torch.cholesky_solve(ones, self._factor)

    def solve(self, wanted: Tensor) -> tuple[Tensor, Tensor]:
        """A (m, k) and b (k,): (K + γI) A + 1bᵀ = F and 1ᵀA = 0."""
        raw = torch.cholesky_solve(wanted, self._factor)
        bias = raw.sum(0) / self._of_ones.sum()
        return raw - self._of_ones * bias, bias

    def outputs(self, coefficients: Tensor, bias: Tensor) -> Tensor:
        """K A + 1bᵀ on the training bags, (m, k)."""
        return torch.addmm(bias, self._kernel, coefficients)
