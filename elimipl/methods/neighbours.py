"""The sparse graph of PL-AGGD: every bag as a mixture of its nearest neighbours."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from elimipl.methods.simplex import minimise, project_on_simplex

_ROWS_AT_ONCE = 256


def nearest(squared_distances: np.ndarray, count: int) -> np.ndarray:
    """The `count` nearest others of each row, (m, count) int, ordered by index; distances are (m, m)."""
    m = len(squared_distances)
    count = min(count, m - 1)
    found = np.empty((m, count), np.int64)
    for rows in _blocks(m if count else 0):
        others = squared_distances[rows]
        others[np.arange(len(rows)), rows] = np.inf
        found[rows] = np.sort(np.argpartition(others, count - 1, axis=1)[:, :count], axis=1)
    return found


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
