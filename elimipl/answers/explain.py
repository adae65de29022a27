"""Question a prediction: what each instance contributed to each class.

Attention says where the model looked, not what it concluded. The measures here are about the answer itself, one number
for each instance and class: `contribution` in logits, the others in calibrated probability.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import ArrayLike

from bag_generators.base.errors import InputError
from bag_generators.base.threads import one_thread
from elimipl.answers.bag_parts import BagParts
from elimipl.answers.predictor import Instances, Prediction, Predictor


def contribution(predictor: Predictor, bag: Instances) -> np.ndarray:
    """a_j·(W_cᵀh_j + b_c), (n, k): what each instance adds to the logits of the bag, which are its sum (eq. 4).

    Positive where the instance speaks for the class, whatever the others say; attention alone has no sign.
    """
    predictor.check_fits(bag.generator, bag.params, bag.features.shape[1])
    scores, votes = predictor.instance_logits(bag.features)
    return np.asarray(scores.softmax(0)[:, None] * votes)


def single(predictor: Predictor, bag: Instances) -> np.ndarray:
    """Calibrated probabilities (n, k) of the bags of one instance each: what the instance would be taken for alone."""
    predictor.check_fits(bag.generator, bag.params, bag.features.shape[1])
    return predictor.probabilities(bag.features, np.ones(len(bag.features), dtype=np.int64))


def leave_one_out(predictor: Predictor, bag: Instances, blocks: np.ndarray | None = None) -> np.ndarray:
    """p(whole bag) − p(bag without the block of instance j), (n, k): positive where the block speaks for the class.

    `blocks` (n,) takes the place of the bag's own (`elimipl.answers.bag_parts`). The bag without its only block is
    empty and says nothing; for it every class counts as equally likely.
    """
    parts = BagParts(predictor, bag, blocks)
    whole = predictor.predict(bag).probabilities  # (k,)
    without = parts.without_each() if len(parts) > 1 else np.full((1, len(whole)), 1 / len(whole))
    return np.asarray((whole - without)[parts.block_of])


def first_map(predictor: Predictor, bag: Instances) -> np.ndarray:
    """The map to show first, (n,): on the model's card the one that finds best what carries the class, or attention."""
    measured = predictor.card.first_map
    predictor.check_fits(bag.generator, bag.params, bag.features.shape[1])
    scores, votes = predictor.instance_logits(bag.features)
    attention = scores.softmax(0)
    with one_thread():
        answer = int(predictor.network.energies((attention @ votes)[None])[0].argmax())
        vote = predictor.network.energies(votes).softmax(1)[:, answer]
    maps = {
        "attention": attention,
        "vote": vote,
        "contribution": attention * votes[:, answer],
        "attention of the answer": attention * vote,
    }
    return np.asarray(maps["attention" if measured is None else measured.name])


class KeptAlone(NamedTuple):
    """The probability of the answer for the whole bag, and with only a share of its instances kept."""

    whole: float
    most: float
    """With those of the highest scores."""
    least: float
    """With those of the lowest scores."""


def kept_alone(
    predictor: Predictor,
    bag: Instances,
    scores: np.ndarray,
    share: float = 0.25,
    prediction: Prediction | None = None,
) -> KeptAlone:
    """Is what a map (n,) points at enough for the answer, and what it points away from not?

    `prediction` is that of the whole bag, for those who have it already.
    """
    if not 0 < share <= 1 or len(scores) != len(bag.features):
        raise InputError(
            f"A share of {share:g} by {len(scores)} scores can't be kept of {len(bag.features)} instances.",
            "Give a share above 0 up to 1, and a score for every instance.",
        )
    order = np.argsort(-np.asarray(scores), kind="stable")
    count = max(1, round(share * len(order)))
    prediction = prediction or predictor.predict(bag)
    most, least = (
        predictor.predict_features(bag.features[np.sort(kept)]).probabilities[prediction.index]
        for kept in (order[:count], order[-count:])
    )
    return KeptAlone(prediction.probability, float(most), float(least))


def without_instances(predictor: Predictor, bag: Instances, removed: Collection[int]) -> Prediction:
    """The prediction for the bag without the instances in `removed`; its attention is over those that stay."""
    n = len(bag.features)
    if unknown := [j for j in sorted(removed) if not 0 <= j < n]:
        raise InputError(f"The bag has no instance {unknown[0]}.", f"Choose from 0 to {n - 1}.")
    kept = np.delete(np.arange(n), list(removed))
    if not len(kept):
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
