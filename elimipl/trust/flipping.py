"""Flipping: how fast the answer falls when instances are removed from most to least relevant."""

from __future__ import annotations

import numpy as np

from elimipl.bag_parts import BagParts


def removal_order(relevance: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Positions of the instances from most to least relevant; ties in random order."""
    return np.lexsort((rng.random(len(relevance)), -np.asarray(relevance)))


def curves(parts: BagParts, orders: np.ndarray, column: int) -> np.ndarray:
    """Probability of a class with 0 to b − 1 of the b blocks removed in each of the orders (m, b), (m, b)."""
    return parts.along(orders, np.arange(orders.shape[1]))[:, :, column]


def areas(parts: BagParts, orders: np.ndarray, column: int) -> np.ndarray:
    """Area under each of the curves, from 0 to 1, (m,): low where an order names what the answer rests on."""
    return np.asarray(curves(parts, orders, column).mean(axis=1))


def interval(values: np.ndarray, rng: np.random.Generator) -> tuple[float, float]:
    """95 % confidence interval of the mean by drawing the values again with replacement (percentile bootstrap)."""
    means = values[rng.integers(0, len(values), (1000, len(values)))].mean(axis=1)
    low, high = np.quantile(means, (0.025, 0.975))
    return float(low), float(high)
