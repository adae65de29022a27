"""PL-AGGD (Wang, Zhang and Li 2022): a graph of neighbours and label confidences that improve each other.

Bags are points on the unit sphere. A bag's features, and later its label confidences F too, are rebuilt from those
of its nearest neighbours; F follows the graph and the outputs of a kernel ridge regression, which follows F.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from pydantic import Field
from scipy import sparse
from sklearn.neighbors import NearestNeighbors
from torch import Tensor

from bag_generators.base.threads import one_thread
from elimipl.datasets.dataset import BagDataset
from elimipl.methods.bag_features import BagScaler
from elimipl.methods.learner import FittedLearner, LearnerSettings, Run, check_memory
from elimipl.model.inference import Predictions
from elimipl.training.reports import EpochReport

_FAR = 1e30
_ROWS_AT_ONCE = 256


class PlAggdConfig(LearnerSettings):
    """Settings of PL-AGGD. Nothing is random: the seed changes nothing."""

    features: Literal["mean", "maxmin"] = "mean"
    neighbours: int = Field(10, ge=1, le=10_000)
    feature_share: float = Field(1.0, ge=0, le=1e6)
    """λ: how much the graph follows the features."""
    label_share: float = Field(1.0, ge=1e-6, le=1e6)
    """μ: how much it follows the confidences; 1/μ is how much these follow the regression."""
    penalty: float = Field(0.05, ge=1e-9, le=1e6)
    """γ of the kernel ridge regression."""
    epochs: int = Field(10, ge=1, le=10_000)
    """Alternations."""

    def run(self, dataset: BagDataset, device: torch.device) -> PlAggdRun:
        """On the CPU whatever the device."""
        return PlAggdRun(dataset, self)


@dataclass(frozen=True, eq=False)
class FittedPlAggd(FittedLearner):
    """A kernel ridge regression on training bags."""

    points: np.ndarray  # (m, d or 2d) float64, unit rows
    coefficients: np.ndarray  # (m, k) float64
    bias: np.ndarray  # (k,) float64
    width: float  # of the Gaussian kernel
    confidences: np.ndarray  # (m, k) float64, the final F of the training bags

    def predict(self, dataset: BagDataset) -> Predictions:
        """The outputs of the regression, projected on the distributions; the most probable class is the largest."""
        with one_thread():
            points = torch.from_numpy(unit_rows(self.scaler.transform(dataset)))
            known, coefficients = torch.from_numpy(self.points), torch.from_numpy(self.coefficients)
            parts = [gaussian(squared_distances(some, known), self.width) @ coefficients for some in points.split(1024)]
        return Predictions(project_on_simplex(torch.cat(parts).numpy() + self.bias))


class PlAggdRun(Run):
    """One training run: an epoch is one alternation."""

    def __init__(self, dataset: BagDataset, config: PlAggdConfig) -> None:
        super().__init__(dataset, config)
        m, self.candidates = len(dataset), dataset.candidates
        check_memory(3 * 8 * m**2, f"PL-AGGD on {m:,} bags needs", "Train on fewer bags.")
        self.scaler, features = BagScaler.learn(dataset, config.features)
        self.points = unit_rows(features)
        self.neighbours = nearest(self.points, config.neighbours)
        squared = squared_distances(torch.from_numpy(self.points), torch.from_numpy(self.points))
        self.width = mean_distance(squared)
        self.ridge = KernelRidge(gaussian(squared, self.width), config.penalty)
        self.of_features = local_gram(self.points, self.neighbours)
        self.confidences = propagated(graph(self.neighbours, reconstruction_weights(self.of_features)), self.candidates)
        self.coefficients, self.bias = self.ridge.solve(torch.from_numpy(self.confidences))

    def epoch(self, epoch: int) -> EpochReport:
        """The graph follows the confidences, the confidences graph and regression, the regression the confidences."""
        began, m, config = time.perf_counter(), len(self.labels), self.config
        grams = config.feature_share * self.of_features
        grams += config.label_share * local_gram(self.confidences, self.neighbours)
        weights = graph(self.neighbours, reconstruction_weights(grams))
        outputs = self.ridge.outputs(self.coefficients, self.bias)
        towards = outputs.numpy()
        found = propagated(weights, self.candidates, towards, 1 / config.label_share, self.confidences)
        self.confidences = found
        self.coefficients, self.bias = self.ridge.solve(torch.from_numpy(found))
        roughness = float(np.square(found - weights @ found).sum())
        misfit = float(np.square(found - towards).sum())
        total = (roughness + misfit / config.label_share) / m
        losses = {"graph": roughness / m, "regression": misfit / m, "total": total}
        return self.report(epoch, began, losses, scores=outputs, weights=torch.from_numpy(found))

    def fitted(self, history: tuple[EpochReport, ...]) -> FittedPlAggd:
        """The regression of the last alternation."""
        coefficients, bias = self.coefficients.numpy(), self.bias.numpy()
        return FittedPlAggd(
            self.config, history, self.scaler, self.points, coefficients, bias, self.width, self.confidences
        )


def unit_rows(features: np.ndarray) -> np.ndarray:
    """Each row divided by its length; a row of zeros stays."""
    lengths = np.linalg.norm(features, axis=1, keepdims=True)
    return features / np.where(lengths > 0, lengths, 1.0)


def mean_distance(squared: Tensor) -> float:
    """Mean distance between two different bags, from squared distances (m, m); 1 if all are alike."""
    m = len(squared)
    total = sum(float(rows.sqrt().sum()) for rows in squared.split(512))
    return total / (m * (m - 1)) if total > 0 else 1.0


def propagated(
    weights: sparse.csr_matrix,
    candidates: np.ndarray,
    outputs: np.ndarray | None = None,
    pull: float = 0.0,
    start: np.ndarray | None = None,
) -> np.ndarray:
    """The confidences F (m, k) with the least ‖(I − W)F‖² + pull·‖F − outputs‖²; rows are distributions on S."""
    apart = (sparse.identity(len(candidates), format="csr") - weights).tocsr()
    back = apart.T.tocsr()
    towards = np.zeros(candidates.shape) if outputs is None else outputs

    def gradient(confidences: np.ndarray) -> np.ndarray:
        return 2 * (back @ (apart @ confidences)) + 2 * pull * (confidences - towards)

    begin = candidates / candidates.sum(axis=1, keepdims=True) if start is None else start
    steepest = 2 * _largest_eigenvalue(apart, back) + 2 * pull
    return minimise(begin, gradient, lambda values: project_on_simplex(values, candidates), steepest)


def _largest_eigenvalue(apart: sparse.csr_matrix, back: sparse.csr_matrix) -> float:
    """An upper estimate of the largest eigenvalue of (I−W)ᵀ(I−W), by power iteration."""
    vector = np.random.default_rng(0).normal(size=apart.shape[0])
    value = 1.0
    for _ in range(50):
        vector = back @ (apart @ (vector / np.linalg.norm(vector)))
        value = float(np.linalg.norm(vector))
        if value == 0:
            return 0.0
    return 1.05 * value


def nearest(points: np.ndarray, count: int) -> np.ndarray:
    """The `count` nearest others of each row of (m, d), (m, count) int, ordered by index."""
    count = min(count, len(points) - 1)
    if count == 0:
        return np.empty((len(points), 0), np.int64)
    found = NearestNeighbors(n_neighbors=count).fit(points).kneighbors(return_distance=False)
    return np.sort(found, axis=1)


def local_gram(points: np.ndarray, neighbours: np.ndarray) -> np.ndarray:
    """G_jab = (x_j − x_a)·(x_j − x_b) over the neighbours a, b of j: ‖x_j − Σ w_a x_a‖² = wᵀG_j w if Σ w = 1."""
    m, count = neighbours.shape
    grams = np.empty((m, count, count))
    for rows in _blocks(m):
        apart = points[rows, None] - points[neighbours[rows]]
        grams[rows] = apart @ apart.transpose(0, 2, 1)
    return grams


def reconstruction_weights(grams: np.ndarray) -> np.ndarray:
    """The distribution w over the neighbours with the least wᵀG_j w, for each j, (m, count)."""
    m, count = grams.shape[:2]
    start = np.full((m, count), 1 / max(count, 1))
    if count == 0:
        return start
    steepest = 2 * np.trace(grams, axis1=1, axis2=2)[:, None]

    def gradient(weights: np.ndarray) -> np.ndarray:
        return 2 * (grams @ weights[:, :, None])[:, :, 0]

    return minimise(start, gradient, project_on_simplex, steepest)


def graph(neighbours: np.ndarray, weights: np.ndarray) -> sparse.csr_matrix:
    """W (m, m) with the weights of bag j's neighbours in row j."""
    m, count = neighbours.shape
    starts = np.arange(m + 1) * count
    return sparse.csr_matrix((weights.ravel(), neighbours.ravel(), starts), shape=(m, m))


def _blocks(m: int) -> list[np.ndarray]:
    """0..m−1 in pieces that keep intermediate arrays small."""
    return np.array_split(np.arange(m), -(-m // _ROWS_AT_ONCE)) if m else []


def squared_distances(x: Tensor, z: Tensor) -> Tensor:
    """‖x_i − z_j‖², (n, m); exactly 0 at the least."""
    products = x @ z.T
    return products.mul_(-2).add_(x.square().sum(1)[:, None]).add_(z.square().sum(1)).clamp_(min=0)


def gaussian(squared: Tensor, width: float) -> Tensor:
    """k(x, z) = exp(−‖x − z‖²/2σ²) of squared distances, in their place."""
    return squared.mul_(-0.5 / width**2).exp_()


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


def project_on_simplex(values: np.ndarray, allowed: np.ndarray | None = None) -> np.ndarray:
    """The nearest distribution to each row of (n, k), 0 where not `allowed` (n, k) bool.

    >>> project_on_simplex(np.array([[0.4, 0.8, 0.2]])).round(3).tolist()
    [[0.267, 0.667, 0.067]]
    """
    if allowed is not None:
        values = np.where(allowed, values, -_FAR)
    descending = -np.sort(-values, axis=1)
    counts = np.arange(1, values.shape[1] + 1)
    thresholds = (np.cumsum(descending, axis=1) - 1) / counts
    support = (descending > thresholds).sum(axis=1)
    return np.maximum(values - thresholds[np.arange(len(values)), support - 1][:, None], 0)


def minimise(
    start: np.ndarray,
    gradient: Callable[[np.ndarray], np.ndarray],
    project: Callable[[np.ndarray], np.ndarray],
    steepest: float | np.ndarray,
) -> np.ndarray:
    """The least of a convex quadratic function over a convex set, to steps below 1e-9.

    `steepest` bounds the curvature, one number or one a row. FISTA (Beck and Teboulle 2009); its momentum starts
    again where it points uphill (O'Donoghue and Candès 2015).
    """
    rate = 1 / np.maximum(steepest, 1e-12)
    here = ahead = start
    pace = 1.0
    for _ in range(1000):
        there = project(ahead - rate * gradient(ahead))
        moved = there - here
        if np.abs(moved).max() < 1e-9:
            return there
        if ((ahead - there) * moved).sum() > 0:
            pace = 1.0
        faster = (1 + np.sqrt(1 + 4 * pace**2)) / 2
        ahead = there + (pace - 1) / faster * moved
        here, pace = there, faster
    return here
