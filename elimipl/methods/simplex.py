"""Least squares over probability distributions: many small problems at once, by accelerated projected gradients."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

_FAR = 1e30


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
    *,
    most: int = 1000,
    tolerance: float = 1e-9,
) -> np.ndarray:
    """The least of a convex quadratic function over a convex set, to steps below `tolerance`.

    `steepest` bounds the curvature, one number or one a row. FISTA (Beck and Teboulle 2009); its momentum starts
    again where it points uphill (O'Donoghue and Candès 2015).
    """
    rate = 1 / np.maximum(steepest, 1e-12)
    here = ahead = start
    pace = 1.0
    for _ in range(most):
        there = project(ahead - rate * gradient(ahead))
        moved = there - here
        if np.abs(moved).max() < tolerance:
            return there
        if ((ahead - there) * moved).sum() > 0:
            pace = 1.0
        faster = (1 + np.sqrt(1 + 4 * pace**2)) / 2
        ahead = there + (pace - 1) / faster * moved
        here, pace = there, faster
    return here
