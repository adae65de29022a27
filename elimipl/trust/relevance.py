"""The ways to rank the instances of a bag by what they mean for a class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from elimipl.bag_parts import BagParts
from elimipl.dataset import BagDataset
from elimipl.explain import contribution, integrated_gradients, single
from elimipl.model.network import build_network
from elimipl.predictor import Predictor

METHODS = ("attention", "contribution", "single", "leave_one_out", "integrated_gradients")
STEPS = 16
"""Points of the path of integrated gradients: a ranking needs fewer than the numbers themselves."""


@dataclass(frozen=True, eq=False)
class SetBag:
    """A bag of a data set, with what a predictor asks of a bag."""

    features: np.ndarray
    generator: str
    params: Mapping[str, Any]

    @classmethod
    def of(cls, dataset: BagDataset, i: int) -> SetBag:
        """Bag i of a data set."""
        return cls(dataset.bag(i), dataset.generator, dataset.params)


def relevances(predictor: Predictor, bag: SetBag, column: int) -> dict[str, np.ndarray]:
    """The scores (n,) of the instances for one class, by the name of the method.

    Alone and left out they are compared in log odds: the order is that of the probabilities, but stays resolved where
    those are 1 to sixteen digits.
    """
    return {
        "attention": predictor.predict(bag).attention,
        "contribution": contribution(predictor, bag)[:, column],
        "single": log_odds(single(predictor, bag), column),
        "leave_one_out": -log_odds(BagParts(predictor, bag).without_each(), column),
        "integrated_gradients": integrated_gradients(predictor, bag, STEPS, [column])[:, 0],
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
