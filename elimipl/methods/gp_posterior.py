"""What Gaussian processes know after regression with a known noise, one for each class, on inducing points.

With an inducing point at every distinct instance this is exact regression; with fewer it is the projected process
(Seeger et al. 2003; Quiñonero-Candela and Rasmussen 2005), whose variance is the prior's where no inducing point
is near.
"""

from __future__ import annotations

import torch
from torch import Tensor

from elimipl.methods.gp_kernel import Prior

_ROWS_AT_ONCE = 4096
_JITTER = 1e-8  # of the kernel's variance, on the diagonal of the inducing points' covariance


def bytes_needed(points: int, classes: int) -> int:
    """Memory of a posterior while it is computed and used."""
    squares, work = (classes + 4) * points**2, 10 * _ROWS_AT_ONCE * points
    return 8 * (squares + work)


class Posterior:
    """C regressions on N targets that share their inputs and kernel, told apart by targets and noise."""

    @torch.no_grad()
    def __init__(self, prior: Prior, points: Tensor, x: Tensor, targets: Tensor, variances: Tensor) -> None:
        """Inducing points (M, d), inputs (N, d), targets and known noise variances (N, C)."""
        self._prior, self._points = prior, points
        between = prior.covariance(points, points)
        between.diagonal().add_(_JITTER * prior.variance)
        self._root = torch.linalg.cholesky(between)
        classes = targets.shape[1]
        precisions = 1 / (variances + prior.noise)
        pulls = precisions * (targets - prior.means)
        grams = torch.eye(len(points), dtype=x.dtype, device=x.device).repeat(classes, 1, 1)
        moments = x.new_zeros(len(points), classes)
        least = precisions.amin()
        for first in range(0, len(x), _ROWS_AT_ONCE):
            rows = slice(first, first + _ROWS_AT_ONCE)
            features = self._features(x[rows])
            grams += least * (features.T @ features)
            # Few labels are candidates, and only these are known better than the rest: their rows add what is missing.
            for c, better in enumerate((precisions[rows] - least).T):
                some = better > 0
                chosen = features[some]
                grams[c].addmm_(chosen.T, chosen * better[some, None])
            moments += features.T @ pulls[rows]
        self._factors = grams
        for c in range(classes):
            self._factors[c] = torch.linalg.cholesky(grams[c])
        self._weights = torch.cholesky_solve(moments.T.unsqueeze(2), self._factors).squeeze(2).T  # (M, C)

    @torch.no_grad()
    def predict(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and variance of every class's process at (n, d) inputs, each (n, C)."""
        parts = [self._predict_rows(rows) for rows in x.split(_ROWS_AT_ONCE)]
        means, variances = zip(*parts, strict=True)
        return torch.cat(means), torch.cat(variances)

    def _predict_rows(self, x: Tensor) -> tuple[Tensor, Tensor]:
        features = self._features(x)
        unexplained = self._prior.variance - features.square().sum(1)
        left = [
            torch.linalg.solve_triangular(factor, features.T, upper=False).square_().sum(0) for factor in self._factors
        ]
        variances = (unexplained + torch.stack(left)).T
        return features @ self._weights + self._prior.means, variances.clamp_min(0)

    def _features(self, x: Tensor) -> Tensor:
        """Φ with ΦΦᵀ = K_xz K_zz⁻¹ K_zx, (n, M)."""
        return torch.linalg.solve_triangular(self._root, self._prior.covariance(self._points, x), upper=False).T
