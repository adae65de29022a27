"""Flipping: how fast the answer falls when instances are removed from most to least relevant."""

from __future__ import annotations

import numpy as np

from elimipl.explain import of_parts
from elimipl.predictor import Instances, Predictor

_CELLS_AT_ONCE = 4_000_000


def removal_order(relevance: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Positions of the instances from most to least relevant; ties in random order."""
    return np.lexsort((rng.random(len(relevance)), -np.asarray(relevance)))


def curves(predictor: Predictor, bag: Instances, orders: np.ndarray, column: int) -> np.ndarray:
    """Probability of a class with 0 to n − 1 instances removed in each of the orders (m, n), (m, n)."""
    n = orders.shape[1]
    turn = np.argsort(orders, axis=1)  # when each instance is removed
    found = []
    for part in np.array_split(turn, -(-turn.size * n // _CELLS_AT_ONCE)):
        kept = part[:, None, :] >= np.arange(n)[:, None]  # (part, removed, n)
        found.append(of_parts(predictor, bag, kept.reshape(-1, n))[:, column].reshape(-1, n))
    return np.concatenate(found)


def areas(predictor: Predictor, bag: Instances, orders: np.ndarray, column: int) -> np.ndarray:
    """Area under each of the curves, from 0 to 1, (m,): low where an order names what the answer rests on."""
    return np.asarray(curves(predictor, bag, orders, column).mean(axis=1))


def interval(values: np.ndarray, rng: np.random.Generator, draws: int = 1000) -> tuple[float, float]:
    """95 % confidence interval of the mean by drawing the values again with replacement (percentile bootstrap)."""
    means = values[rng.integers(0, len(values), (draws, len(values)))].mean(axis=1)
    low, high = np.quantile(means, (0.025, 0.975))
    return float(low), float(high)
