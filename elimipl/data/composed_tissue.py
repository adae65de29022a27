"""Composed bags of real tissue to play with: size, share of positives and candidate sets as one likes.

Cells of one tile of the class among cells of stroma, MNIST-MIPL's recipe (`elimipl.data.compose`) on the Deep
features that ship. Stroma is a class of the tiles; here it carries none, so the bags are of the other six.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from bag_generators.errors import InputError
from elimipl.data.candidates import Candidates
from elimipl.data.compose import Composition, compose
from elimipl.dataset import BagDataset
from elimipl.labels import LabelSpace
from elimipl.training.splits import stratified_splits

SET, BACKGROUND = "tissue7-deep", "STR"
SHARE_HELD_OUT = 0.3


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
        bags = compose(_of_six(part, background), stroma, recipe, seed=2 * wanted.seed + number)
        ready.append(Candidates("random", wanted.r, wanted.seed).given_to(bags))
    return ready[0], ready[1]


def _of_six(tiles: BagDataset, background: int) -> BagDataset:
    """The tiles of all classes but one, whose column goes."""
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
