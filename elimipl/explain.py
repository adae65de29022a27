"""Question a prediction: what each instance contributed to each class.

Attention says where the model looked, not what it concluded. The measures here are about the answer itself, one number
for each instance and class: `contribution` in logits, the others in calibrated probability.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import torch
from numpy.typing import ArrayLike

from bag_generators.errors import InputError
from bag_generators.regions import BoxRegions
from bag_generators.threads import one_thread
from elimipl.cards.calibration import temper
from elimipl.predictor import Instances, Prediction, Predictor

BLOCK = 4
"""Cells along a side of a block."""
_ROWS_AT_ONCE = 200_000
_CELLS_AT_ONCE = 4_000_000


def contribution(predictor: Predictor, bag: Instances) -> np.ndarray:
    """a_j·(W_cᵀh_j + b_c), (n, k): what each instance adds to the logits of the bag, which are its sum (eq. 4).

    Positive where the instance speaks for the class, whatever the others say; attention alone has no sign.
    """
    predictor.check_fits(bag.generator, bag.params, bag.features.shape[1])
    scores, votes = _read(predictor, bag.features)
    return np.asarray(scores.softmax(0)[:, None] * votes)


def single(predictor: Predictor, bag: Instances) -> np.ndarray:
    """Calibrated probabilities (n, k) of the bags of one instance each: what the instance would be taken for alone."""
    predictor.check_fits(bag.generator, bag.params, bag.features.shape[1])
    return predictor.probabilities(bag.features, np.ones(len(bag.features), dtype=np.int64))


def leave_one_out(predictor: Predictor, bag: Instances) -> np.ndarray:
    """p(whole bag) − p(bag without instance j), (n, k): positive where the instance speaks for the class.

    The bag without its only instance is empty and says nothing; for it every class counts as equally likely.
    """
    whole = predictor.predict(bag).probabilities  # (k,)
    n = len(bag.features)
    if n == 1:
        return (whole - 1 / len(whole))[None]
    steps = np.array_split(np.arange(n), -(-n * n // _CELLS_AT_ONCE))
    without = [of_parts(predictor, bag, step[:, None] != np.arange(n)) for step in steps]
    return np.asarray(whole - np.concatenate(without))


def of_parts(predictor: Predictor, bag: Instances, kept: np.ndarray) -> np.ndarray:
    """Calibrated probabilities (m, k) of parts of a bag: `kept` (m, n) says which instances each part holds.

    Where an instance says the same in any company, it is read once for all parts.
    """
    predictor.check_fits(bag.generator, bag.params, bag.features.shape[1])
    if kept.ndim != 2 or kept.shape[1] != len(bag.features) or not kept.any(axis=1).all():
        raise InputError(
            f"Marks of the shape {kept.shape} don't make parts of a bag of {len(bag.features)} instances.",
            "Give a row for each part, and keep at least one instance in it.",
        )
    if predictor.network.is_local:
        scores, votes = _read(predictor, bag.features)
        with one_thread():
            attention = scores.masked_fill(~torch.from_numpy(kept), -torch.inf).softmax(1)  # (m, n)
            raw = predictor.network.energies(attention @ votes).softmax(1)
        return temper(raw.numpy(), predictor.card.temperature)
    rows = [np.flatnonzero(row) for row in kept]
    groups = np.array_split(np.arange(len(rows)), -(-kept.size // _ROWS_AT_ONCE))
    found = []
    for group in (group for group in groups if group.size):
        taken = np.concatenate([rows[i] for i in group])
        found.append(predictor.probabilities(bag.features[taken], kept[group].sum(axis=1)))
    return np.concatenate(found)


def _read(predictor: Predictor, features: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
    """What eq. 3 takes the softmax of, (n,), and every instance's votes W_cᵀh_j + b_c, (n, k)."""
    network = predictor.network
    x = torch.from_numpy(predictor.scaler.transform(features))
    with torch.no_grad(), one_thread():
        scores, votes = network.read(x, torch.zeros(len(x), dtype=torch.int64), 1)
        return network.attention_logits(scores), votes


def blocks(bag: Instances) -> np.ndarray:
    """The block of every instance, (n,) int from 0: what is taken away together.

    A cell of Deep has seen its neighbours, so its cells go in blocks of 4×4 (56 px); the instances of other generators,
    and bags without regions, one by one.
    """
    regions = getattr(bag, "regions", None)
    if bag.generator != "deep" or not isinstance(regions, BoxRegions):
        return np.arange(len(bag.features))
    column, row = (np.unique(corner, return_inverse=True)[1] // BLOCK for corner in regions.boxes[:, :2].T)
    return np.asarray(row * (column.max() + 1) + column)


def without_instances(predictor: Predictor, bag: Instances, removed: Collection[int]) -> Prediction:
    """The prediction for the bag without the instances in `removed`; its attention is over those that stay."""
    n = len(bag.features)
    if unknown := sorted(set(removed) - set(range(n))):
        raise InputError(f"The bag has no instance {unknown[0]}.", f"Choose from 0 to {n - 1}.")
    kept = [j for j in range(n) if j not in set(removed)]
    if not kept:
        raise InputError("Nothing would be left of the bag.", "Keep at least one instance.")
    predictor.check_fits(bag.generator, bag.params, bag.features.shape[1])
    return predictor.predict_features(bag.features[kept])


def integrated_gradients(
    predictor: Predictor, bag: Instances, steps: int = 64, columns: Sequence[int] | None = None
) -> np.ndarray:
    """Integrated gradients (Sundararajan 2017) of each class probability, summed over an instance's features, (n, k).

    The path is straight in scaled features, all instances together, from a bag of nothing but average instances
    (zero after scaling: with the z-score, the training mean) to the bag. Summed over the instances it accounts for
    all of p(bag) − p(average bag), up to the error of the Gauss-Legendre rule with `steps` points. Each class takes as
    long as all other work together; `columns` asks for some of them only.
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
        classes = classes if columns is None else classes[list(columns)]
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
    ranks = [mean_ranks(scores) - (len(scores) + 1) / 2 for scores in (first, second)]
    scale = np.sqrt((ranks[0] ** 2).sum() * (ranks[1] ** 2).sum())
    return float(ranks[0] @ ranks[1] / scale) if scale > 0 else None


def mean_ranks(scores: np.ndarray) -> np.ndarray:
    """Ranks from 1, ties sharing their mean. (scipy.stats has it too, and takes half a second to import.)"""
    _, inverse, counts = np.unique(scores, return_inverse=True, return_counts=True)
    return np.asarray((counts.cumsum() - (counts - 1) / 2)[inverse])
