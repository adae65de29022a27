"""Question a prediction: what each instance contributed to each class.

Attention says where the model looked, not what it concluded. Both measures here are about the answer itself,
in units of calibrated probability, one number for each instance and class.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import ArrayLike

from bag_generators.errors import InputError
from elimipl.model.inference import one_thread
from elimipl.predictor import Prediction, Predictor

if TYPE_CHECKING:
    from bag_generators import Bag

_ROWS_AT_ONCE = 200_000


def leave_one_out(predictor: Predictor, bag: Bag) -> np.ndarray:
    """p(whole bag) − p(bag without instance j), (n, k): positive where the instance speaks for the class.

    The bag without its only instance is empty and says nothing; for it every class counts as equally likely.
    """
    whole = predictor.predict(bag).probabilities  # (k,)
    n = len(bag.features)
    if n == 1:
        return (whole - 1 / len(whole))[None]
    others = np.arange(n - 1) + (np.arange(n - 1) >= np.arange(n)[:, None])  # (n, n−1): all but j
    parts = np.array_split(others, -(-others.size // _ROWS_AT_ONCE))
    without = [predictor.probabilities(bag.features[part.ravel()], np.full(len(part), n - 1)) for part in parts]
    return np.asarray(whole - np.concatenate(without))


def without_instances(predictor: Predictor, bag: Bag, removed: Collection[int]) -> Prediction:
    """The prediction for the bag without the instances in `removed`; its attention is over those that stay."""
    n = len(bag.features)
    if unknown := sorted(set(removed) - set(range(n))):
        raise InputError(f"The bag has no instance {unknown[0]}.", f"Choose from 0 to {n - 1}.")
    kept = [j for j in range(n) if j not in set(removed)]
    if not kept:
        raise InputError("Nothing would be left of the bag.", "Keep at least one instance.")
    predictor.check_fits(bag.generator, bag.params, bag.features.shape[1])
    return predictor.predict_features(bag.features[kept])


def integrated_gradients(predictor: Predictor, bag: Bag, steps: int = 64) -> np.ndarray:
    """Integrated gradients (Sundararajan 2017) of each class probability, summed over an instance's features, (n, k).

    The path is straight in scaled features, all instances together, from a bag of nothing but average instances
    (zero after scaling: with the z-score, the training mean) to the bag. Summed over the instances it accounts for
    all of p(bag) − p(average bag), up to the error of the Gauss-Legendre rule with `steps` points.
    """
    if steps < 1:
        raise InputError(f"The path can't have {steps} steps.", "Give at least one.")
    predictor.check_fits(bag.generator, bag.params, bag.features.shape[1])
    end = torch.from_numpy(predictor.scaler.transform(bag.features))  # (n, d)
    n = len(end)
    nodes, weights = (torch.from_numpy(values) for values in np.polynomial.legendre.leggauss(steps))
    fractions, weights = (nodes + 1) / 2, weights / 2  # from [−1, 1] to [0, 1]
    path = (fractions[:, None, None] * end).flatten(0, 1).requires_grad_()  # (steps·n, d)
    bag_of = torch.arange(steps).repeat_interleave(n)
    with torch.enable_grad(), one_thread():
        energies = predictor.network(path, bag_of, steps).energies  # (steps, k)
        classes = (energies / predictor.card.temperature).softmax(1).T @ weights  # (k,) mean along the path
        slopes = [torch.autograd.grad(p, path, retain_graph=True)[0].view(steps, n, -1).sum(0) for p in classes]
    return torch.stack([(slope * end).sum(-1) for slope in slopes], dim=1).numpy()


def rank_agreement(a: ArrayLike, b: ArrayLike) -> float | None:
    """Spearman's correlation of two scores of the same instances, ties sharing their mean rank.

    None where it doesn't exist: fewer than two instances, or a score that is the same everywhere.

    >>> rank_agreement([1, 2, 3], [10, 20, 15])
    0.5
    """
    first, second = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if first.shape != second.shape or first.ndim != 1:
        raise InputError(
            f"Scores of the shapes {first.shape} and {second.shape} can't be compared.",
            "Give two lists of the same length.",
        )
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        return None
    ranks = [_ranks(scores) - (len(scores) + 1) / 2 for scores in (first, second)]
    scale = np.sqrt((ranks[0] ** 2).sum() * (ranks[1] ** 2).sum())
    return float(ranks[0] @ ranks[1] / scale) if scale > 0 else None


def _ranks(scores: np.ndarray) -> np.ndarray:
    """Ranks from 1, ties sharing their mean. (scipy.stats has it too, and takes half a second to import.)"""
    _, inverse, counts = np.unique(scores, return_inverse=True, return_counts=True)
    return np.asarray((counts.cumsum() - (counts - 1) / 2)[inverse])
