"""Feature standardisation, fitted on the training bags only and carried along with the model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

ROBUST_LIMIT = 5.0
"""Robust scores are cut at ± this many (normal-equivalent) standard deviations."""
_IQR_OF_A_NORMAL = 1.3489795


@dataclass(frozen=True, eq=False)
class Scaler:
    """x ↦ clip((x − shift) / scale, ±limit), feature by feature."""

    shift: np.ndarray  # (d,) float64
    scale: np.ndarray  # (d,) float64, never 0
    limit: float = float("inf")

    def transform(self, instances: np.ndarray) -> np.ndarray:
        """Standardised float64 copy of (n, d) instances."""
        scaled = (np.asarray(instances, np.float64) - self.shift) / self.scale
        return np.clip(scaled, -self.limit, self.limit) if np.isfinite(self.limit) else scaled


def fit_scaler(instances: np.ndarray, kind: str) -> Scaler:
    """Learn a scaler from (N, d) training instances.

    `none` leaves features alone; `zscore` uses each feature's mean and deviation; `robust` its median and
    interquartile range, with far outliers cut; `global` one mean and one deviation for all features, which
    keeps the contrast between the pixels of a picture. A feature that never varies is only centred.
    """
    values = np.asarray(instances, np.float64)
    dim = values.shape[1]
    if kind == "none":
        return Scaler(np.zeros(dim), np.ones(dim))
    if kind == "global":
        return Scaler(np.full(dim, values.mean()), np.full(dim, _usable(values.std())))
    if kind == "robust":
        low, middle, high = np.quantile(values, (0.25, 0.5, 0.75), axis=0)
        return Scaler(middle, _usable((high - low) / _IQR_OF_A_NORMAL), ROBUST_LIMIT)
    return Scaler(values.mean(0), _usable(values.std(0)))


def _usable(scale: np.ndarray | np.floating) -> np.ndarray:
    return np.where(np.asarray(scale) > 1e-12, scale, 1.0)
