"""The prior of MIPLGP's Gaussian processes, one a class with a shared kernel, and the fit of its few parameters."""

from __future__ import annotations

import math
import warnings

import torch
from torch import Tensor, nn

with warnings.catch_warnings():  # GPyTorch's own use of a part of torch that is going away
    warnings.simplefilter("ignore", FutureWarning)
    from gpytorch.kernels import MaternKernel, ScaleKernel  # type: ignore[import-untyped]
    from gpytorch.likelihoods.noise_models import HomoskedasticNoise  # type: ignore[import-untyped]
    from gpytorch.means import ConstantMean  # type: ignore[import-untyped]


class Prior(nn.Module):
    """Scale(Matérn 5/2) for all classes, a constant mean for each, and one noise on top of the known noise."""

    def __init__(self, classes: int, lengthscale: float) -> None:
        super().__init__()
        self.kernel = ScaleKernel(MaternKernel(nu=2.5)).double()
        self.kernel.base_kernel.lengthscale = lengthscale
        self.mean = ConstantMean(batch_shape=torch.Size([classes])).double()
        self.extra_noise = HomoskedasticNoise().double()

    @property
    def means(self) -> Tensor:
        """The constant of every class, (C,)."""
        return self.mean.constant

    @property
    def noise(self) -> Tensor:
        """The learned part of the noise, a variance, (1,)."""
        return self.extra_noise.noise

    @property
    def variance(self) -> Tensor:
        """k(x, x), the same for every x."""
        return self.kernel.outputscale

    def covariance(self, x: Tensor, z: Tensor) -> Tensor:
        """k(x, z), (n, m) for (n, d) and (m, d)."""
        return self.kernel(x, z).to_dense()


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
