"""Benchmark bags: a few instances of one target class hidden among instances of no target class.

So a bag holds at least one instance of its true label and none of any false positive label, as the paper asks
(section 3.1). The paper gives the number of bags, the smallest, largest and average bag size and the classes, a later
paper of its authors the smallest and largest share of positives. Neither gives the distribution of the sizes nor the
rule for the positives in words; what is done about both is written at `bag_sizes` and `Recipe`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from bag_generators.errors import InputError
from elimipl.data.crowd import uniform_false_positives
from elimipl.dataset import BagDataset
from elimipl.labels import LabelSpace


@dataclass(frozen=True)
class Recipe:
    """How to mix bags. `positive_share` of a bag, halves rounded up and at least one instance, is of the bag's class.

    The default share of 8 % is that of MNIST- and FMNIST-MIPL: three positives in a bag of up to 43 and four in a
    larger one give the shares of 7.0 % to 9.1 % that the authors print (CDL, Table 1).
    """

    bags_per_class: int = 100
    smallest: int = 35
    largest: int = 48
    average: float = 41.33
    positive_share: float = 0.08

    def __post_init__(self) -> None:
        if self.bags_per_class < 1:
            raise InputError(f"{self.bags_per_class} bags for a class are too few.", "Choose at least one.")
        if not 1 <= self.smallest <= self.average <= self.largest:
            raise InputError(
                f"Bags of {self.smallest} to {self.largest} instances can't average {self.average:g}.",
                "Choose an average between the smallest and the largest size, which is at least 1.",
            )
        if not 0.0 < self.positive_share <= 1.0:
            raise InputError(
                f"A share of {self.positive_share:g} positive instances is not possible.",
                "Choose a number above 0 and up to 1.",
            )

    def positives(self, size: int) -> int:
        """Positive instances in a bag of `size`."""
        return max(1, math.floor(self.positive_share * size + 0.5 + 1e-9))  # 1/12 of 30 is a half, also in floats


def bag_sizes(count: int, recipe: Recipe) -> np.ndarray:
    """`count` bag sizes from small to large, (count,), with the recipe's range and average.

    Of all distributions with that range and average this is the one with the largest entropy, p(n) ∝ exp(λn).
    Its quantiles are taken, not random draws, so that range and average come out at every seed.
    """
    sizes = np.arange(recipe.smallest, recipe.largest + 1)
    low, high = -50.0, 50.0
    for _ in range(100):  # the average grows with λ
        tilt = (low + high) / 2
        exponents = tilt * (sizes - sizes[0 if tilt < 0 else -1])
        chances = np.exp(exponents) / np.exp(exponents).sum()
        low, high = (tilt, high) if chances @ sizes < recipe.average else (low, tilt)
    quantiles = (np.arange(count) + 0.5) / count
    return sizes[np.minimum(np.searchsorted(chances.cumsum(), quantiles), len(sizes) - 1)]


def mix_bags(
    features: np.ndarray,
    classes: np.ndarray,
    targets: Sequence[int],
    negatives: np.ndarray,
    label_space: LabelSpace,
    recipe: Recipe,
    *,
    r: int,
    seed: int,
    described: dict[str, Any],
) -> BagDataset:
    """Bags of instances of `features` (N, d), class by class, with r false positive labels each.

    `classes` (N,) says what each instance is, `targets` which value stands for each label, `negatives` (N,)
    bool which instances may fill the bags up. No instance is used twice before all of its kind have been used
    once, and none twice in a bag unless the bag needs more than there are. Bags with the same seed are the
    same at every r. `described` goes into the data set (generator, source, …).
    """
    rng = np.random.default_rng((seed, 1))  # apart from the draws of the candidate sets
    labels = np.repeat(np.arange(len(targets)), recipe.bags_per_class)
    sizes = rng.permutation(bag_sizes(len(labels), recipe))
    filling = Deck(np.flatnonzero(negatives), "of no target class", rng)
    hidden = [
        Deck(np.flatnonzero(classes == target), f"of the class “{name}”", rng)
        for target, name in zip(targets, label_space.names, strict=True)
    ]
    rows, truth = [], []
    for label, size in zip(labels, sizes, strict=True):
        positives = min(recipe.positives(int(size)), int(size))
        chosen = np.concatenate([hidden[label].deal(positives), filling.deal(int(size) - positives)])
        order = rng.permutation(len(chosen))
        rows.append(chosen[order])
        truth.append((np.arange(len(chosen)) < positives)[order])
    return BagDataset(
        instances=features[np.concatenate(rows)],
        offsets=np.concatenate([[0], np.cumsum(sizes)]),
        candidates=uniform_false_positives(labels, len(targets), r, seed),
        labels=labels,
        label_space=label_space,
        instance_truth=np.concatenate(truth),
        names=tuple(f"{label_space.names[label]} {i}" for i, label in enumerate(labels)),
        **{**described, "params": {**asdict(recipe), "r": r, "seed": seed, **described.get("params", {})}},
    )


class Deck:
    """Cards dealt from a shuffled pack, which is shuffled again only when it runs out."""

    def __init__(self, cards: np.ndarray, what: str, rng: np.random.Generator) -> None:
        if len(cards) == 0:
            raise InputError(f"There is no instance {what}.", "Check that the files hold the whole data set.")
        self._cards, self._rng = cards, rng
        self._left = rng.permutation(cards)

    def deal(self, count: int) -> np.ndarray:
        """The next `count` cards; the same card twice only where the whole pack is smaller than that."""
        hand, self._left = self._left[:count], self._left[count:]
        while len(hand) < count:
            pack = self._rng.permutation(self._cards)
            # Cards already in the hand go to the bottom.
            pack = np.concatenate([pack[~np.isin(pack, hand)], pack[np.isin(pack, hand)]])
            missing = count - len(hand)
            hand, self._left = np.concatenate([hand, pack[:missing]]), pack[missing:]
        return hand
