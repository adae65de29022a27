"""The measurement of `elimipl.trust`, from a model and a data set to the numbers on its card."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bag_generators.errors import InputError
from elimipl.bag_parts import BagParts
from elimipl.cards.trust import MethodTrust, Trust
from elimipl.dataset import BagDataset
from elimipl.explain import rank_agreement
from elimipl.predictor import Predictor
from elimipl.trust.flipping import areas, interval, removal_order
from elimipl.trust.localisation import auroc, average_precision, evenness
from elimipl.trust.relevance import METHODS, SetBag, relevances, with_random_weights

MOST_BAGS = 100
RANDOM_ORDERS = 20
RANDOM_NETWORKS = 5


@dataclass(frozen=True, eq=False)
class _Ranked:
    """What one ranking does on one bag."""

    auroc: float | None
    average_precision: float | None
    area: float
    gain: float
    agreement: float | None


def measure_trust(
    predictor: Predictor, dataset: BagDataset, seed: int = 0, on: str = "", most_bags: int = MOST_BAGS
) -> Trust:
    """Measure a model's explanations on bags it has not learned from, at most `most_bags` of them, drawn by `seed`.

    The class that is explained is the predicted one. `on` says what the bags are (default: their source). Bags of one
    instance have no order and are left out.
    """
    predictor.check_fits(dataset.generator, dataset.params, dataset.dim)
    rng = np.random.default_rng(seed)
    usable = np.flatnonzero(dataset.sizes > 1)
    if not usable.size:
        raise InputError("No bag has two instances, so there is nothing to rank.", "Give bags of several instances.")
    chosen = np.sort(rng.permutation(usable)[:most_bags])
    strangers = [with_random_weights(predictor, seed + i) for i in range(RANDOM_NETWORKS)]
    own: list[dict[str, _Ranked]] = []
    random: list[dict[str, _Ranked]] = []
    even, shares, reference = [], [], []
    for i in chosen:
        bag, truth = SetBag.of(dataset, i), _truth(dataset, i)
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


def _truth(dataset: BagDataset, i: int) -> np.ndarray | None:
    """Which instances of bag i carry its label; None where that is unknown or all are of one kind."""
    if dataset.instance_truth is None:
        return None
    truth = dataset.instance_truth[dataset.offsets[i] : dataset.offsets[i + 1]]
    return truth if truth.any() and not truth.all() else None


def _ranked(
    parts: BagParts,
    scores: Mapping[str, np.ndarray],
    leave_one_out: np.ndarray,
    column: int,
    truth: np.ndarray | None,
    chance: float,
    rng: np.random.Generator,
) -> dict[str, _Ranked]:
    """What each ranking of one bag does to the truth and to the model's answer."""
    orders = np.array([removal_order(scores[name], rng) for name in METHODS])
    reached = dict(zip(METHODS, areas(parts, orders, column), strict=True))
    return {
        name: _Ranked(
            None if truth is None else auroc(truth, scores[name]),
            None if truth is None else average_precision(truth, scores[name]),
            float(reached[name]),
            chance - float(reached[name]),
            rank_agreement(scores[name], leave_one_out),
        )
        for name in METHODS
    }


def _averaged(bags: Sequence[Mapping[str, _Ranked]], rankers: int, rng: np.random.Generator) -> dict[str, MethodTrust]:
    """Means over bags; `rankers` results in a row are of one bag, which counts once for the interval."""
    found = {}
    for name in METHODS:
        results = [bag[name] for bag in bags]
        gains = np.array([one.gain for one in results]).reshape(-1, rankers).mean(axis=1)
        low, high = interval(gains, rng)
        found[name] = MethodTrust(
            auroc=_mean([one.auroc for one in results]),
            average_precision=_mean([one.average_precision for one in results]),
            area=float(np.mean([one.area for one in results])),
            gain=float(gains.mean()),
            gain_low=low,
            gain_high=high,
            agreement=_mean([one.agreement for one in results]),
        )
    return found


def _mean(values: Sequence[float | None]) -> float | None:
    """The mean of what is known; None where nothing is."""
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None
