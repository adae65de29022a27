"""k-means that grows one cluster at a time, without chance: the same points always give the same clusters."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

_TRIED_SPLITS = 3
_MOST_ROUNDS = 300


@dataclass(frozen=True, eq=False)
class Clustering:
    """Points in k clusters, none of them empty, each point with the nearest centre."""

    centres: np.ndarray
    """(k, d) float64, the mean of each cluster."""
    labels: np.ndarray
    """(n,) int, the cluster of each point."""
    distances: np.ndarray
    """(n,) squared distance of each point to its centre."""

    @property
    def inertia(self) -> float:
        """Sum of the squared distances: what k-means makes small."""
        return float(self.distances.sum())


def grow(points: np.ndarray, most: int) -> Iterator[Clustering]:
    """Clusterings of `points` (n, d) float64 with 1, 2, … `most` clusters, ending early when all are points.

    Each comes from the one before by cutting a cluster in two across its longest axis and moving centres until
    no point changes its cluster (Lloyd). The three clusters with the most spread along that axis are all tried and
    the best result is kept: on tissue this comes within one per cent of the best of ten random starts.
    """
    table = _Table(points)
    current = table.settled(points.mean(axis=0, keepdims=True))
    yield current
    for _ in range(most - 1):
        starts = _splits(points, current)
        if not starts:
            return
        current = min((table.settled(start) for start in starts), key=lambda clusters: clusters.inertia)
        yield current


def _splits(points: np.ndarray, current: Clustering) -> list[np.ndarray]:
    """Centres (k + 1, d) to start from, the most promising first; none when every cluster is a single point."""
    starts = []
    for j, centre in enumerate(current.centres):
        members = points[current.labels == j] - centre
        values, vectors = np.linalg.eigh(members.T @ members)
        step = vectors[:, -1] * np.sqrt(max(values[-1], 0.0) / len(members))  # one standard deviation
        if np.abs(step).max() > 1e-6:
            start = np.vstack([current.centres, centre + step])
            start[j] -= step
            starts.append((values[-1], start))
    starts.sort(key=lambda split: -split[0])
    return [start for _, start in starts[:_TRIED_SPLITS]]


class _Table:
    """Points laid out so that a round of Lloyd's algorithm is two small matrix products."""

    def __init__(self, points: np.ndarray) -> None:
        self._points = points
        self._rows = np.column_stack([points, np.ones(len(points))])  # (n, d + 1)
        self._columns = np.ascontiguousarray(self._rows.T)

    def settled(self, centres: np.ndarray) -> Clustering:
        """Lloyd's rounds from `centres` until no point changes its cluster; empty clusters are dropped."""
        member = np.zeros((len(centres), len(self._rows)), dtype=bool)
        for _ in range(_MOST_ROUNDS):
            nearest = self._nearest(centres)
            if np.array_equal(nearest, member):
                break
            sums = nearest.astype(np.float64) @ self._rows  # (k, d + 1), the last column counts
            filled = sums[:, -1] > 0
            centres, member = sums[filled, :-1] / sums[filled, -1:], nearest[filled]
        labels = member.argmax(axis=0)
        offsets = self._points - centres[labels]
        return Clustering(centres, labels, np.einsum("nd,nd->n", offsets, offsets))

    def _nearest(self, centres: np.ndarray) -> np.ndarray:
        """Which centre each point is nearest to, (k, n) bool with one True a column."""
        # |x − c|² = |x|² − 2 x·c + |c|², where the first term is the same for every centre.
        score = np.column_stack([-2 * centres, np.square(centres).sum(axis=1)]) @ self._columns  # (k, n)
        nearest = score == score.min(axis=0)
        if np.count_nonzero(nearest) != len(self._rows):  # a point midway between centres: the first one gets it
            nearest = score.argmin(axis=0) == np.arange(len(centres))[:, None]
        return np.asarray(nearest)
