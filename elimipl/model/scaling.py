"""Feature standardisation, fitted on the training bags only and carried along with the model.

Both directions work on a part of the instances at a time, in float64: a whole float64 copy would take twice the memory
of the data itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from elimipl.datasets.dataset import InstanceTable

ROBUST_LIMIT = 5.0
"""Robust scores are cut at ± this many (normal-equivalent) standard deviations."""
_IQR_OF_A_NORMAL = 1.3489795
_NUMBERS_AT_ONCE = 2**20


@dataclass(frozen=True, eq=False)
class Scaler:
    """x ↦ clip((x − shift) / scale, ±limit), feature by feature."""

    shift: np.ndarray  # (d,) float64
    scale: np.ndarray  # (d,) float64, never 0
    limit: float = float("inf")

    def transform(self, instances: InstanceTable, dtype: str = "float64") -> np.ndarray:
        """Standardised copy of (n, d) instances, computed in float64 and stored as `dtype`."""
        n, dim = instances.shape
        scaled = np.empty((n, dim), dtype)
        for rows in _parts(n, dim):
            part = (np.asarray(instances[rows], np.float64) - self.shift) / self.scale
            scaled[rows] = np.clip(part, -self.limit, self.limit, out=part) if np.isfinite(self.limit) else part
        return scaled


def fit_scaler(instances: InstanceTable, kind: str) -> Scaler:
    """Learn a scaler from (N, d) training instances.

    `none` leaves features alone; `zscore` uses each feature's mean and deviation; `robust` its median and
    interquartile range, with far outliers cut; `global` one mean and one deviation for all features, which
    keeps the contrast between the pixels of a picture. A feature that never varies is only centred.
    """
    n, dim = instances.shape
    if kind == "none":
        return Scaler(np.zeros(dim), np.ones(dim))
    if kind == "global":
        mean = float(_sums(instances, 0.0).sum()) / instances.size
        squares = float(_sums(instances, mean, power=2).sum())
        return Scaler(np.full(dim, mean), np.full(dim, _usable(np.sqrt(squares / instances.size))))
    if kind == "zscore":
        shift = _sums(instances, 0.0) / n
        return Scaler(shift, _usable(np.sqrt(_sums(instances, shift, power=2) / n)))
    shift, scale = np.empty(dim), np.empty(dim)
    for some in _parts(dim, n):
        values = np.asarray(instances[:, some], np.float64, order="C")
        low, shift[some], high = np.quantile(values, (0.25, 0.5, 0.75), axis=0)
        scale[some] = (high - low) / _IQR_OF_A_NORMAL
    return Scaler(shift, _usable(scale), ROBUST_LIMIT)


def _sums(instances: InstanceTable, shift: np.ndarray | float, power: int = 1) -> np.ndarray:
    """Σ (x − shift)^power of each feature, (d,), added row by row: the same whatever is read at once."""
    n, dim = instances.shape
    total = np.zeros(dim)
    for rows in _parts(n, dim):
        part = np.asarray(instances[rows], np.float64) - shift
        if power == 2:
            part *= part
        part[0] += total
        total = part.sum(0)
    return total


def _parts(length: int, width: int) -> Iterator[slice]:
    """Slices of a side of a table that cover about `_NUMBERS_AT_ONCE` numbers each."""
    step = max(2, _NUMBERS_AT_ONCE // max(width, 1))  # one column alone would be summed in another order
    return (slice(start, start + step) for start in range(0, length, step))


def _usable(scale: np.ndarray | np.floating) -> np.ndarray:
    return np.where(np.asarray(scale) > 1e-12, scale, 1.0)
