"""Take instances away until the answer gives way: how fast a map's order does it, and how few instances it takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from elimipl.explain import contribution, leave_one_out, of_parts
from elimipl.predictor import Predictor

if TYPE_CHECKING:
    from bag_generators import Bag

MOST_STEPS = 32
RANDOM_ORDERS = 20


@dataclass(frozen=True, eq=False)
class FlippingCurve:
    """The probability of one class while instances are taken away, the highest scores first, and in random orders."""

    removed: np.ndarray
    """(s,) how many instances are gone, from 0."""
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


def flipping_curve(
    predictor: Predictor, bag: Bag, scores: np.ndarray, class_index: int, seed: int = 0
) -> FlippingCurve:
    """Take instances away in the order of `scores` (n,), against the mean of random orders; one always stays."""
    n = len(bag.features)
    steps = np.unique(np.linspace(0, n - 1, min(n, MOST_STEPS)).round().astype(int))
    rng = np.random.default_rng(seed)
    orders = [np.argsort(-np.asarray(scores), kind="stable"), *(rng.permutation(n) for _ in range(RANDOM_ORDERS))]
    kept = np.concatenate([_prefixes_gone(order, steps) for order in orders])
    found = of_parts(predictor, bag, kept)[:, class_index].reshape(len(orders), len(steps))
    return FlippingCurve(steps, found[0], found[1:].mean(axis=0))


def smallest_flip(predictor: Predictor, bag: Bag) -> tuple[int, ...] | None:
    """The fewest instances found whose removal changes the label, in order of their numbers; None where none does.

    Instances go in the order of what they say for the first choice against the second until the label changes; then
    each that is not needed comes back. Trying all sets would take longer than the universe has.
    """
    n = len(bag.features)
    if n < 2:
        return None
    first = predictor.predict(bag).index
    best: tuple[int, ...] | None = None
    for scores in (contribution(predictor, bag), leave_one_out(predictor, bag)):
        against = np.delete(scores, first, axis=1).max(axis=1)
        order = np.argsort(-(scores[:, first] - against), kind="stable")
        labels = of_parts(predictor, bag, _prefixes_gone(order, np.arange(1, n))).argmax(axis=1)
        flipped = np.flatnonzero(labels != first)
        if not len(flipped):
            continue
        chosen = _without_needless(predictor, bag, order[: flipped[0] + 1].tolist(), first)
        if best is None or len(chosen) < len(best):
            best = chosen
    return best


def _without_needless(predictor: Predictor, bag: Bag, removed: list[int], first: int) -> tuple[int, ...]:
    """Put back one by one, the weakest first, what the change of the label does not need."""
    for instance in reversed(removed.copy()):
        fewer = [one for one in removed if one != instance]
        kept = np.ones((1, len(bag.features)), dtype=bool)
        kept[0, fewer] = False
        if fewer and of_parts(predictor, bag, kept)[0].argmax() != first:
            removed = fewer
    return tuple(sorted(removed))


def _prefixes_gone(order: np.ndarray, steps: np.ndarray) -> np.ndarray:
    """What is left when the first 0, 1, … of an order are gone, (steps, n) bool."""
    place = np.empty(len(order), dtype=int)
    place[order] = np.arange(len(order))
    return place >= steps[:, None]
