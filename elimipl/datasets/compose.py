"""Bags composed of instances: some of one tile of a class, the rest of tissue that carries no class.

This is MNIST-MIPL's recipe on tissue. A tile shows its class nearly everywhere, so a model of whole tiles has no reason
to look anywhere in particular; in a composed bag it has, and which instances carry the class is known. Truth serves to
build the bags, as digit labels do in MNIST-MIPL; the learner sees candidate sets only. An instance that has seen its
surroundings, as a cell of Deep has, brings them along.

`composed_tissue` makes such bags of the Deep features that ship, to play with: size, share of positives and candidate
sets as one likes, cells of one tile of the class among cells of stroma. Stroma is a class of the tiles; here it carries
none, so the bags are of the other six.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from bag_generators.base.errors import InputError
from elimipl.candidates.crowd import Candidates
from elimipl.candidates.labels import LabelSpace
from elimipl.datasets.dataset import BagDataset
from elimipl.training.splits import stratified_splits

SET, BACKGROUND = "tissue7-deep", "STR"
SHARE_HELD_OUT = 0.3


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


def compose(tiles: BagDataset, reserved: np.ndarray, recipe: Composition | None = None, *, seed: int = 0) -> BagDataset:
    """One bag for every bag of `tiles`: a part of its instances, filled up with instances drawn from `reserved` (m, d).

    Groups, names, labels and candidate sets stay. `instance_truth` marks what came from the tile.
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
        truths.append((np.arange(size) < count)[order])
    return replace(
        tiles,
        instances=np.concatenate(bags),
        offsets=np.cumsum([0, *map(len, bags)]),
        instance_truth=np.concatenate(truths),
    )


@dataclass(frozen=True)
class WhatIf:
    """Bags of `size` cells, `share` of them of the class, with `r` false labels in every candidate set."""

    size: int = 16
    share: float = 0.25
    r: int = 1
    seed: int = 0

    @property
    def positives(self) -> int:
        """Cells of the class in every bag, at least one."""
        return max(1, round(self.size * self.share))


def composed_tissue(tiles: BagDataset, wanted: WhatIf) -> tuple[BagDataset, BagDataset]:
    """Training and held-out bags, one for every tile and augmented copy; no picture gives cells to both."""
    background = tiles.label_space.index(BACKGROUND)
    if wanted.positives > tiles.sizes.min():
        raise InputError(
            f"A tile has {tiles.sizes.min()} cells, fewer than {wanted.positives}.",
            "Choose smaller bags or a smaller share.",
        )
    ready = []
    for number, rows in enumerate(stratified_splits(tiles.labels, 1, 1 - SHARE_HELD_OUT, 0, tiles.groups)[0]):
        part = tiles.subset(rows)
        share = wanted.positives / wanted.size
        recipe = Composition(plain=0.0, smallest=wanted.size, largest=wanted.size, least=share, most=share)
        stroma = np.asarray(part.subset(part.labels == background).instances)
        bags = compose(_without(part, background), stroma, recipe, seed=2 * wanted.seed + number)
        ready.append(Candidates("random", wanted.r, wanted.seed).given_to(bags))
    return ready[0], ready[1]


def _without(tiles: BagDataset, background: int) -> BagDataset:
    own = tiles.subset(tiles.labels != background)
    kept = np.arange(tiles.n_classes) != background
    space = tiles.label_space
    names, colours, said, titles = (
        tuple(np.array(one)[kept].tolist()) for one in (space.names, space.colours, space.descriptions, space.titles)
    )
    return replace(
        own,
        candidates=own.candidates[:, kept],
        labels=own.labels - (own.labels > background),
        label_space=LabelSpace("composed6", names, colours, said, space.source, titles),
        source=f"{own.source}; composed with cells of {BACKGROUND}",
    )
