"""PL-AGGD (Wang, Zhang and Li 2022): a graph of neighbours and label confidences that improve each other.

Bags are points on the unit sphere. A bag's features, and later its label confidences F too, are rebuilt from those
of its nearest neighbours; F follows the graph and the outputs of a kernel ridge regression, which follows F.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from scipy import sparse

from bag_generators.errors import InputError
from bag_generators.threads import one_thread
from elimipl.dataset import BagDataset
from elimipl.methods.bag_features import BagScaler
from elimipl.methods.kernel_ridge import Gaussian, KernelRidge, squared_distances
from elimipl.methods.memory import usable_bytes
from elimipl.methods.neighbours import graph, local_gram, nearest, reconstruction_weights
from elimipl.methods.simplex import minimise, project_on_simplex
from elimipl.model.device import resolve_device
from elimipl.model.inference import Predictions, share_correct
from elimipl.settings import Settings, choice, number
from elimipl.training.reports import EpochReport


@dataclass(frozen=True)
class PlAggdConfig(Settings):
    """Settings of PL-AGGD. Nothing is random: the seed changes nothing."""

    features: str = choice("mean", "maxmin")
    neighbours: int = number(10, 1, 10_000)
    feature_share: float = number(1.0, 0, 1e6)
    """λ: how much the graph follows the features."""
    label_share: float = number(1.0, 1e-6, 1e6)
    """μ: how much it follows the confidences; 1/μ is how much these follow the regression."""
    penalty: float = number(0.05, 1e-9, 1e6)
    """γ of the kernel ridge regression."""
    epochs: int = number(10, 1, 10_000)
    """Alternations."""

    @property
    def trainer(self) -> Callable[..., FittedPlAggd]:
        """`fit` of this module."""
        return fit


@dataclass(frozen=True, eq=False)
class FittedPlAggd:
    """A kernel ridge regression on training bags."""

    points: np.ndarray  # (m, d or 2d) float64, unit rows
    coefficients: np.ndarray  # (m, k) float64
    bias: np.ndarray  # (k,) float64
    kernel: Gaussian
    scaler: BagScaler
    config: PlAggdConfig
    confidences: np.ndarray  # (m, k) float64, the final F of the training bags
    history: tuple[EpochReport, ...]
    notes: tuple[str, ...] = ()

    @property
    def stopped(self) -> bool:
        """Whether training ended on request, before its last alternation."""
        return len(self.history) < self.config.epochs

    def predict(self, dataset: BagDataset) -> Predictions:
        """The outputs of the regression, projected on the distributions; the most probable class is the largest."""
        with one_thread():
            points = torch.from_numpy(unit_rows(self.scaler.transform(dataset)))
            known, coefficients = torch.from_numpy(self.points), torch.from_numpy(self.coefficients)
            parts = [self.kernel.of(squared_distances(some, known)) @ coefficients for some in points.split(1024)]
        return Predictions(project_on_simplex(torch.cat(parts).numpy() + self.bias))


def fit(
    dataset: BagDataset,
    config: PlAggdConfig,
    *,
    on_epoch: Callable[[EpochReport], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
    device: str = "auto",
) -> FittedPlAggd:
    """Train PL-AGGD on bag features, on the CPU whatever the device. `on_epoch` hears of each alternation."""
    resolve_device(device, "float64")
    _check_memory(len(dataset))
    with one_thread():
        scaler, features = BagScaler.learn(dataset, config.features)
        points, candidates = unit_rows(features), dataset.candidates
        squared = squared_distances(torch.from_numpy(points), torch.from_numpy(points))
        neighbours = nearest(squared.numpy(), config.neighbours)
        kernel = Gaussian(mean_distance(squared))
        ridge = KernelRidge(kernel.of(squared), config.penalty)
        of_features = local_gram(points, neighbours)
        confidences = spread(graph(neighbours, reconstruction_weights(of_features)), candidates)
        coefficients, bias = ridge.solve(torch.from_numpy(confidences))
        history: list[EpochReport] = []
        for epoch in range(1, config.epochs + 1):
            began = time.perf_counter()
            of_labels = local_gram(confidences, neighbours)
            grams = config.feature_share * of_features + config.label_share * of_labels
            weights = graph(neighbours, reconstruction_weights(grams))
            outputs = ridge.outputs(coefficients, bias).numpy()
            confidences = spread(weights, candidates, outputs, 1 / config.label_share, confidences)
            coefficients, bias = ridge.solve(torch.from_numpy(confidences))
            history.append(_report(epoch, config, weights, confidences, outputs, dataset.labels, began))
            if on_epoch is not None:
                on_epoch(history[-1])
            if should_stop is not None and should_stop():
                break
    return FittedPlAggd(points, coefficients.numpy(), bias.numpy(), kernel, scaler, config, confidences, tuple(history))


def unit_rows(features: np.ndarray) -> np.ndarray:
    """Each row divided by its length; a row of zeros stays."""
    lengths = np.linalg.norm(features, axis=1, keepdims=True)
    return features / np.where(lengths > 0, lengths, 1.0)


def mean_distance(squared: torch.Tensor) -> float:
    """Mean distance between two different bags, from squared distances (m, m); 1 if all are alike."""
    m = len(squared)
    total = sum(float(rows.sqrt().sum()) for rows in squared.split(512))
    return total / (m * (m - 1)) if total > 0 else 1.0


def spread(
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


def _report(
    epoch: int,
    config: PlAggdConfig,
    weights: sparse.csr_matrix,
    confidences: np.ndarray,
    outputs: np.ndarray,
    labels: np.ndarray,
    began: float,
) -> EpochReport:
    roughness = float(np.square(confidences - weights @ confidences).sum())
    misfit = float(np.square(confidences - outputs).sum())
    total = (roughness + misfit / config.label_share) / len(labels)
    return EpochReport(
        epoch=epoch,
        epochs=config.epochs,
        losses={"graph": roughness / len(labels), "regression": misfit / len(labels), "total": total},
        train_accuracy=share_correct(outputs, labels),
        held_out_accuracy=None,
        disambiguation_accuracy=share_correct(confidences, labels),
        lr=0.0,
        seconds=time.perf_counter() - began,
    )


def _check_memory(bags: int) -> None:
    needed, free = 3 * 8 * bags**2, usable_bytes()
    if needed > free:
        raise InputError(
            f"PL-AGGD on {bags:,} bags needs {needed / 1e9:.1f} GB of memory, but only {free / 1e9:.1f} GB are free.",
            "Train on fewer bags.",
        )
