"""Measure whether explanations can be believed: do they find the instances that matter, to the label and to the model?

Each way of ranking instances is held against the truth about instances, where it is known, and against the model: an
honest ranking names the instances without which the answer falls (“flipping”). Rankings by networks with random weights
go through the same measurement on the same model; what they reach is chance.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bag_generators.base.errors import InputError
from elimipl.answers.bag_parts import BagParts
from elimipl.answers.explain import contribution, integrated_gradients, mean_ranks, rank_agreement, single
from elimipl.answers.predictor import FeatureBag, Predictor
from elimipl.cards.card import MethodTrust, Trust
from elimipl.datasets.dataset import BagDataset
from elimipl.model.network import build_network

if TYPE_CHECKING:
    from bag_generators import Bag

METHODS = ("attention", "contribution", "single", "leave_one_out", "integrated_gradients")
MOST_BAGS = 100
RANDOM_ORDERS = 20
RANDOM_NETWORKS = 5
GRADIENT_STEPS = 16
"""Points of the path of integrated gradients: a ranking needs fewer than the numbers themselves."""
MOST_CURVE_STEPS = 32


def measure_trust(predictor: Predictor, dataset: BagDataset, seed: int = 0, on: str = "") -> Trust:
    """Measure a model's explanations on bags it has not learned from, at most `MOST_BAGS` of them, drawn by `seed`.

    The class that is explained is the predicted one. `on` says what the bags are (default: their source). Bags of one
    instance have no order and are left out.
    """
    predictor.check_fits(dataset.generator, dataset.params, dataset.dim)
    rng = np.random.default_rng(seed)
    usable = np.flatnonzero(dataset.sizes > 1)
    if not usable.size:
        raise InputError("No bag has two instances, so there is nothing to rank.", "Give bags of several instances.")
    chosen = np.sort(rng.permutation(usable)[:MOST_BAGS])
    strangers = [with_random_weights(predictor, seed + i) for i in range(RANDOM_NETWORKS)]
    own: list[dict[str, dict[str, float | None]]] = []
    random: list[dict[str, dict[str, float | None]]] = []
    even, shares, reference = [], [], []
    for i in chosen:
        bag = FeatureBag(dataset.bag(i), dataset.generator, dataset.params)
        truth = None
        if dataset.instance_truth is not None:
            truth = dataset.instance_truth[dataset.offsets[i] : dataset.offsets[i + 1]]
            truth = truth if truth.any() and not truth.all() else None  # of one kind nothing can be told apart
        parts, prediction = BagParts(predictor, bag), predictor.predict(bag)
        known = relevances(predictor, bag, prediction.index)
        orders = np.array([rng.permutation(len(bag.features)) for _ in range(RANDOM_ORDERS)])
        chance = float(areas(parts, orders, prediction.index).mean())
        for ranker, results in ((predictor, own), *((stranger, random) for stranger in strangers)):
            scores = known if ranker is predictor else relevances(ranker, bag, prediction.index)
            results.append(_ranked(parts, scores, known["leave_one_out"], prediction.index, truth, chance, rng))
        even.append(evenness(prediction.attention))
        reference.append(chance)
        if truth is not None:
            shares.append(float(truth.mean()))
    return Trust(
        on=on or dataset.source,
        bags=len(chosen),
        located=len(shares),
        positive_share=_mean(shares),
        evenness=float(np.mean(even)),
        random_area=float(np.mean(reference)),
        methods=_averaged(own, 1, rng),
        random_weights=_averaged(random, RANDOM_NETWORKS, rng),
        seed=seed,
    )


def _ranked(
    parts: BagParts,
    scores: Mapping[str, np.ndarray],
    leave_one_out: np.ndarray,
    column: int,
    truth: np.ndarray | None,
    chance: float,
    rng: np.random.Generator,
) -> dict[str, dict[str, float | None]]:
    """What each ranking of one bag does to the truth and to the model's answer."""
    orders = np.array([removal_order(scores[name], rng) for name in METHODS])
    return {
        name: {
            "auroc": None if truth is None else auroc(truth, scores[name]),
            "average_precision": None if truth is None else average_precision(truth, scores[name]),
            "area": float(area),
            "gain": chance - float(area),
            "agreement": rank_agreement(scores[name], leave_one_out),
        }
        for name, area in zip(METHODS, areas(parts, orders, column), strict=True)
    }


def _averaged(
    bags: Sequence[Mapping[str, Mapping[str, float | None]]], rankers: int, rng: np.random.Generator
) -> dict[str, MethodTrust]:
    """Means over bags; `rankers` results in a row are of one bag, which counts once for the interval."""
    found = {}
    for name in METHODS:
        gains = np.array([bag[name]["gain"] for bag in bags], np.float64).reshape(-1, rankers).mean(axis=1)
        low, high = interval(gains, rng)
        means = {what: _mean([bag[name][what] for bag in bags]) for what in ("auroc", "average_precision", "agreement")}
        area = float(np.mean([bag[name]["area"] for bag in bags]))
        found[name] = MethodTrust(area=area, gain=float(gains.mean()), gain_low=low, gain_high=high, **means)
    return found


def _mean(values: Sequence[float | None]) -> float | None:
    """The mean of what is known; None where nothing is."""
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


def relevances(predictor: Predictor, bag: FeatureBag, column: int) -> dict[str, np.ndarray]:
    """The scores (n,) of the instances for one class, by the name of the method.

    Alone and left out they are compared in log odds: the order is that of the probabilities, but stays resolved where
    those are 1 to sixteen digits.
    """
    return {
        "attention": predictor.predict(bag).attention,
        "contribution": contribution(predictor, bag)[:, column],
        "single": log_odds(single(predictor, bag), column),
        "leave_one_out": -log_odds(BagParts(predictor, bag).without_each(), column),
        "integrated_gradients": integrated_gradients(predictor, bag, GRADIENT_STEPS, [column])[:, 0],
    }


def log_odds(probabilities: np.ndarray, column: int) -> np.ndarray:
    """log p/(1 − p) of one class, (m,), with 1 − p as the sum of all others (m, k)."""
    against = np.delete(probabilities, column, axis=1).sum(axis=1)
    smallest = np.finfo(np.float64).tiny
    return np.asarray(np.log(np.maximum(probabilities[:, column], smallest)) - np.log(np.maximum(against, smallest)))


def with_random_weights(predictor: Predictor, seed: int) -> Predictor:
    """A model with the same settings that has learned nothing; a given extractor stays what it is."""
    network = predictor.network
    own = network.extractor if network.has_own_extractor else None
    fresh = build_network(network.config.replace(seed=seed), network.dim, network.n_classes, own)
    return Predictor(fresh, predictor.scaler, predictor.card)


def removal_order(relevance: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Positions of the instances from most to least relevant; ties in random order."""
    return np.lexsort((rng.random(len(relevance)), -np.asarray(relevance)))


def areas(parts: BagParts, orders: np.ndarray, column: int) -> np.ndarray:
    """Area under the curve of a class's probability while b blocks go in each of the orders (m, b), from 0 to 1, (m,).

    It is low where an order names what the answer rests on.
    """
    return np.asarray(parts.along(orders, np.arange(orders.shape[1]))[:, :, column].mean(axis=1))


def interval(values: np.ndarray, rng: np.random.Generator) -> tuple[float, float]:
    """95 % confidence interval of the mean by drawing the values again with replacement (percentile bootstrap)."""
    means = values[rng.integers(0, len(values), (1000, len(values)))].mean(axis=1)
    low, high = np.quantile(means, (0.025, 0.975))
    return float(low), float(high)


def auroc(truth: np.ndarray, scores: np.ndarray) -> float | None:
    """Chance that a marked instance has a higher score than an unmarked one, ties counting half; None of one kind.

    (scikit-learn's takes a hundred times as long to check its input, and seconds to be imported.)

    >>> auroc(np.array([True, False, False]), np.array([0.5, 0.2, 0.5]))
    0.75
    """
    marked = int(truth.sum())
    if marked in (0, len(truth)):
        return None
    below = mean_ranks(scores)[truth].sum() - marked * (marked + 1) / 2  # Mann and Whitney's U
    return float(below / (marked * (len(truth) - marked)))


def average_precision(truth: np.ndarray, scores: np.ndarray) -> float:
    """Mean precision at the ranks of the marked instances, equal scores sharing the last rank among them."""
    _, position = np.unique(-np.asarray(scores, dtype=np.float64), return_inverse=True)
    found, seen = (np.bincount(position, weights=weights).cumsum() for weights in (truth, None))
    return float((found / seen)[position][truth].mean())


def evenness(attention: np.ndarray) -> float:
    """Entropy of the attention (n,) over log n: 1 where all instances get the same, 0 where one gets everything.

    >>> evenness(np.array([0.5, 0.5, 0.0, 0.0]))
    0.5
    """
    if len(attention) < 2:
        return 1.0
    looked_at = attention[attention > 0]
    return float(-(looked_at * np.log(looked_at)).sum() / math.log(len(attention)))


@dataclass(frozen=True, eq=False)
class FlippingCurve:
    """The probability of one class while blocks are taken away, the highest scores first, and in random orders."""

    removed: np.ndarray
    """(s,) how many blocks are gone, from 0 to all but one."""
    by_score: np.ndarray
    """(s,) probability of the class."""
    by_chance: np.ndarray
    """(s,) its mean over random orders."""

    @property
    def times_faster(self) -> float | None:
        """How many times faster than chance the order lowers the class; None where chance lowers it hardly at all."""
        start = self.by_score[0]
        lost, lost_by_chance = (float((start - curve[1:]).mean()) for curve in (self.by_score, self.by_chance))
        return lost / lost_by_chance if lost_by_chance > 0.01 else None


def flipping_curve(predictor: Predictor, bag: Bag, scores: np.ndarray, class_index: int) -> FlippingCurve:
    """Take blocks away in the order of their mean `scores` (n,), against the mean of random orders; one stays."""
    parts = BagParts(predictor, bag)
    b = len(parts)
    steps = np.unique(np.linspace(0, b - 1, min(b, MOST_CURVE_STEPS)).round().astype(int))
    rng = np.random.default_rng(0)
    orders = [np.argsort(-parts.means(scores), kind="stable"), *(rng.permutation(b) for _ in range(RANDOM_ORDERS))]
    found = parts.along(np.array(orders), steps)[:, :, class_index]
    return FlippingCurve(steps, found[0], found[1:].mean(axis=0))


def smallest_flip(predictor: Predictor, bag: Bag) -> tuple[int, ...] | None:
    """The instances of the fewest blocks found whose removal changes the label, in order; None where none does.

    Blocks go in the order of what they say for the first choice against the second until the label changes; then
    each that is not needed comes back. Trying all sets would take longer than the universe has.
    """
    parts = BagParts(predictor, bag)
    b = len(parts)
    if b < 2:
        return None
    whole = predictor.predict(bag)
    first = whole.index
    best: list[int] | None = None
    for scores in (parts.means(contribution(predictor, bag)), whole.probabilities - parts.without_each()):
        against = np.delete(scores, first, axis=1).max(axis=1)
        order = np.argsort(-(scores[:, first] - against), kind="stable")
        labels = parts.along(order[None], np.arange(1, b))[0].argmax(axis=1)
        flipped = np.flatnonzero(labels != first)
        if not len(flipped):
            continue
        chosen = _without_needless(parts, order[: flipped[0] + 1].tolist(), first)
        if best is None or len(chosen) < len(best):
            best = chosen
    return None if best is None else tuple(parts.instances(best).tolist())


def _without_needless(parts: BagParts, removed: list[int], first: int) -> list[int]:
    """Put back one by one, the weakest first, what the change of the label does not need."""
    kept = np.ones((1, len(parts)), dtype=bool)
    kept[0, removed] = False
    for block in reversed(removed):
        kept[0, block] = True
        if kept.all() or parts.probabilities(kept)[0].argmax() == first:
            kept[0, block] = False
    return [block for block in removed if not kept[0, block]]
