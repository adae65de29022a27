"""Bags composed of instances: some of one tile of a class, the rest of tissue that carries no class.

This is MNIST-MIPL's recipe on tissue. A tile shows its class nearly everywhere, so a model of whole tiles has no reason
to look anywhere in particular; in a composed bag it has, and which instances carry the class is known. Truth serves to
build the bags, as digit labels do in MNIST-MIPL; the learner sees candidate sets only. An instance that has seen its
surroundings, as a cell of Deep has, brings them along.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from bag_generators.errors import InputError
from elimipl.dataset import BagDataset


@dataclass(frozen=True)
class Composition:
    """How bags are composed: sizes and shares are drawn evenly from these ranges, both ends included."""

    plain: float = 0.3
    """Share of the bags that stay as they are."""
    smallest: int = 16
    largest: int = 48
    least: float = 0.1
    """Smallest share of a bag that is of its class."""
    most: float = 0.6

    def __post_init__(self) -> None:
        if not (0 <= self.plain <= 1 and 1 <= self.smallest <= self.largest and 0 < self.least <= self.most <= 1):
            raise InputError(
                f"Bags can't be composed by {self}.",
                "Give shares from 0 to 1 and sizes from 1, the smaller of two first.",
            )


def compose(
    tiles: BagDataset,
    reserved: np.ndarray,
    recipe: Composition | None = None,
    *,
    seed: int = 0,
    reserved_class: int | None = None,
) -> BagDataset:
    """One bag for every bag of `tiles`: a part of its instances, filled up with instances drawn from `reserved` (m, d).

    Groups, names, labels and candidate sets stay. `instance_truth` marks what came from the tile; where the reserved
    tissue is itself a class, bags of that `reserved_class` carry it everywhere.
    """
    chosen = recipe or Composition()
    if reserved.ndim != 2 or not len(reserved) or reserved.shape[1] != tiles.dim:
        raise InputError(
            f"Reserved instances of the shape {reserved.shape} don't fit bags of {tiles.dim} features.",
            "Give instances of the same generator.",
        )
    rng = np.random.default_rng(seed)
    bags, truths = [], []
    for i in range(len(tiles)):
        own = tiles.bag(i)
        if rng.random() < chosen.plain:
            bags.append(own)
            truths.append(np.ones(len(own), dtype=bool))
            continue
        size = int(rng.integers(chosen.smallest, chosen.largest + 1))
        count = int(np.clip(round(size * rng.uniform(chosen.least, chosen.most)), 1, min(size, len(own))))
        rest = reserved[rng.integers(len(reserved), size=size - count)]
        order = rng.permutation(size)
        bags.append(np.concatenate([own[rng.permutation(len(own))[:count]], rest])[order])
        truths.append((np.arange(size) < count)[order] | (tiles.labels[i] == reserved_class))
    return replace(
        tiles,
        instances=np.concatenate(bags),
        offsets=np.cumsum([0, *map(len, bags)]),
        instance_truth=np.concatenate(truths),
    )
