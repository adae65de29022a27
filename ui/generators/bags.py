"""One picture's bags by all generators with the attention of their models, and the place a person follows in them."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from bag_generators import GENERATORS, Bag, InputError, TissueImage
from elimipl.predictor import Prediction
from ui.figures.evenness import is_even
from ui.frame.cached import bag_of, predictor, shipped_models

OF_DRAWINGS, OF_TISSUE = ("drawn7",), ("colon", "tissue7")
"""What the ids of models that read drawings or tissue begin with, the best ones first."""


@dataclass(frozen=True, eq=False)
class Described:
    """A bag and what its model says about it; without a model the attention is an even share."""

    bag: Bag
    prediction: Prediction | None

    @property
    def attention(self) -> np.ndarray:
        """(n,), sums to one."""
        n = len(self.bag)
        return np.full(n, 1 / n) if self.prediction is None else self.prediction.attention

    @property
    def is_even(self) -> bool:
        """Whether the attention tells no instances apart."""
        return is_even(self.attention)

    def scores(self, unit: str) -> np.ndarray:
        """Attention as a share of the bag, or as a multiple of an even share."""
        return self.attention * (len(self.bag) if unit == "even" else 1)


def all_bags(image: TissueImage, drawn: bool = False) -> tuple[dict[str, Described], list[InputError]]:
    """The bag of every generator, made as its model asks for it, and why some generators refuse the picture."""
    cards = {card.id: card for card in shipped_models()[0]}
    described, refusals = {}, []
    for name in GENERATORS:
        ids = [f"{start}-{name}-elimipl" for start in (OF_DRAWINGS if drawn else OF_TISSUE)]
        card = next((cards[one] for one in ids if one in cards), None)
        try:
            bag = bag_of(image, name, **(card.generator_params if card else {}))
            described[name] = Described(bag, predictor(card).predict(bag) if card else None)
        except InputError as refusal:
            refusals.append(refusal)
    return described, refusals


def place_of(bag: Bag, instance: int) -> tuple[float, float]:
    """A point (x, y) inside an instance: the one of its pixels that is nearest to its centre and not under others."""
    x, y = bag.regions.centre(instance)
    if bag.regions.at(x, y) == instance:
        return x, y
    ys, xs = np.nonzero(bag.regions.mask(instance))
    for nearest in np.argsort((xs + 0.5 - x) ** 2 + (ys + 0.5 - y) ** 2):
        point = (float(xs[nearest]) + 0.5, float(ys[nearest]) + 0.5)
        if bag.regions.at(*point) == instance:
            return point
    return x, y  # it lies wholly under others


def linked(bags: Mapping[str, Described], generator: str, instance: int) -> dict[str, int | None]:
    """The instance of every bag at the place of one instance; None where a generator does not look."""
    place = place_of(bags[generator].bag, instance)
    at = {name: described.bag.regions.at(*place) for name, described in bags.items()}
    return {**at, generator: instance}
