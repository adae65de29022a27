"""Take blocks of instances away until the answer gives way: how fast a map's order does it, how few blocks it takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from elimipl.bag_parts import BagParts
from elimipl.explain import contribution
from elimipl.predictor import Predictor

if TYPE_CHECKING:
    from bag_generators import Bag

MOST_STEPS = 32
RANDOM_ORDERS = 20


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


def flipping_curve(
    predictor: Predictor, bag: Bag, scores: np.ndarray, class_index: int, seed: int = 0
) -> FlippingCurve:
    """Take blocks away in the order of their mean `scores` (n,), against the mean of random orders; one stays."""
    parts = BagParts(predictor, bag)
    b = len(parts)
    steps = np.unique(np.linspace(0, b - 1, min(b, MOST_STEPS)).round().astype(int))
    rng = np.random.default_rng(seed)
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
