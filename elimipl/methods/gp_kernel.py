"""The prior of MIPLGP's Gaussian processes, one per class with a shared kernel, and the fit of its few parameters."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn.functional import softplus

_LEAST_NOISE = 1e-4


class Prior(nn.Module):
    """Scaled Matérn 5/2 for all classes, a constant mean for each, and one noise on top of the known noise.

    What has to be positive is the softplus of a free parameter that starts at 0.
    """

    def __init__(self, classes: int, lengthscale: float) -> None:
        super().__init__()
        free = math.log(math.expm1(lengthscale)) if lengthscale < 30 else lengthscale  # softplus(x) ≈ x from there on
        self.free_lengthscale = nn.Parameter(torch.tensor(free, dtype=torch.float64))
        self.free_variance = nn.Parameter(torch.zeros((), dtype=torch.float64))
        self.free_noise = nn.Parameter(torch.zeros((), dtype=torch.float64))
        self.means = nn.Parameter(torch.zeros(classes, dtype=torch.float64))
        """The constant of every class, (C,)."""

    @property
    def lengthscale(self) -> Tensor:
        """How far apart inputs have to be to know little of each other."""
        return softplus(self.free_lengthscale)

    @property
    def variance(self) -> Tensor:
        """k(x, x), the same for every x."""
        return softplus(self.free_variance)

    @property
    def noise(self) -> Tensor:
        """The learned part of the noise, a variance."""
        return softplus(self.free_noise) + _LEAST_NOISE

    def covariance(self, x: Tensor, z: Tensor) -> Tensor:
        """variance · (1 + t + t²/3) e^(−t) with t = √5 ‖x − z‖ / lengthscale; (n, m) for x (n, d) and z (m, d)."""
        centre = x.mean(0)  # the same distances, with fewer digits lost
        t = torch.cdist(x - centre, z - centre) * (math.sqrt(5) / self.lengthscale)
        return self.variance * (1 + t + t.square() / 3) * (-t).exp()


def median_distance(x: Tensor) -> float:
    """Median distance between rows, 1 if all are alike: a length scale to start from."""
    distances = torch.nn.functional.pdist(x)
    distances = distances[distances > 0]
    return float(distances.median()) if len(distances) else 1.0


def backward(prior: Prior, x: Tensor, targets: Tensor, variances: Tensor) -> float:
    """Add the derivatives of the mean negative log marginal likelihood to `prior`'s gradients; gives its value.

    x (n, d), targets and known noise `variances` (n, C). With A = K + noise and a = A⁻¹(y − mean) the derivative by
    K is (A⁻¹ − a aᵀ)/2 for each class; summed up, it goes through the kernel once instead of once a class.
    """
    covariance, means, noise = prior.covariance(x, x), prior.means, prior.noise
    n, classes = targets.shape
    value = 0.0
    by_covariance, by_means = torch.zeros_like(covariance), torch.zeros_like(means)
    with torch.no_grad():
        for c in range(classes):
            factor = torch.linalg.cholesky(covariance + torch.diag(variances[:, c] + noise))
            residual = targets[:, c] - means[c]
            inverse = torch.cholesky_inverse(factor)
            a = inverse @ residual
            by_covariance += inverse.addr_(a, a, alpha=-1)
            by_means[c] = -a.sum()
            value += float(residual @ a / 2 + factor.diagonal().log().sum()) + n * math.log(2 * math.pi) / 2
        by_covariance /= 2 * n * classes
        by_noise = by_covariance.diagonal().sum().reshape(noise.shape)
    torch.autograd.backward([covariance, means, noise], [by_covariance, by_means / (n * classes), by_noise])
    return value / (n * classes)
