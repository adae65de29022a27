"""k-means that grows one cluster at a time, without chance: the same points always give the same clusters."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

_MOST_ROUNDS = 300


@dataclass(frozen=True, eq=False)
class Clustering:
    centres: np.ndarray
    """(k, d) float64."""
    labels: np.ndarray
    """(n,) index of the nearest centre."""
    distances: np.ndarray
    """(n,) squared distance to it."""


def grow(points: np.ndarray, most: int) -> Iterator[Clustering]:
    """Clusterings of `points` (n, d) with 2, 3, … `most` clusters, or one cluster when all points are equal.

    Each starts from the one before with the widest cluster cut in two along its longest axis. It ends early when
    no cluster can be cut any more.
    """
    current = _settle(points, points.mean(axis=0, keepdims=True))
    if not current.distances.any():
        yield current
        return
    for _ in range(2, most + 1):
        if not current.distances.any():
            return
        current = _settle(points, _split(points, current))
        yield current


def _split(points: np.ndarray, current: Clustering) -> np.ndarray:
    inertia = np.bincount(current.labels, current.distances, minlength=len(current.centres))
    widest = int(inertia.argmax())
    members = points[current.labels == widest] - current.centres[widest]
    values, vectors = np.linalg.eigh(members.T @ members / len(members))
    step = vectors[:, -1] * np.sqrt(values[-1])
    centres = np.vstack([current.centres, current.centres[widest] + step])
    centres[widest] -= step
    return centres


def _settle(points: np.ndarray, centres: np.ndarray) -> Clustering:
    """Lloyd's rounds until no label changes."""
    labels = np.full(len(points), -1)
    for _ in range(_MOST_ROUNDS):
        nearest = (np.square(centres).sum(axis=1) - 2 * points @ centres.T).argmin(axis=1)
        if (nearest == labels).all():
            break
        labels = nearest
        counts = np.bincount(labels, minlength=len(centres))
        sums = np.stack([np.bincount(labels, column, minlength=len(centres)) for column in points.T], axis=1)
        centres = np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], centres)
    distances = np.square(points - centres[labels]).sum(axis=1)
    return Clustering(centres, labels, distances)
