"""Composed bags of real tiles for the models that read patches: what is learned from, and what is measured on.

Tissue that carries no class: fat and glass (tissue7/outside, every other tile for training, the others for measuring),
or healthy mucosa of the same part of the split (lesion5).
"""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from elimipl.data.compose import Composition, compose
from elimipl.dataset import BagDataset
from elimipl.labels import LESION5, TISSUE7, LabelSpace
from scripts.shipped_models.progress import Bar
from scripts.shipped_models.tiles import TileSet, tile_bags

MEASURED = Composition(plain=0, smallest=36, largest=36, least=0.2, most=0.2)
"""A fifth of 36 patches is of the class."""
_BAGS_PER_TILE = 3  # that are measured on, of the few tiles of tissue7


@dataclass(frozen=True, eq=False)
class DeepTiles:
    """Bags of whole tiles with their augmented copies, and what to compose them with."""

    bags: BagDataset
    tiles: int
    """How many there are; their own bags come first, the copies follow."""
    outside: tuple[np.ndarray, np.ndarray] | None
    """Patches of tissue of no class for training and for measuring; None where a class is healthy."""

    @property
    def healthy(self) -> int | None:
        """The class that is tissue without a finding."""
        return self.bags.label_space.index("healthy") if self.outside is None else None

    def learned(self, train: np.ndarray) -> BagDataset:
        """What is learned from the tiles at the positions `train`: they themselves, and their copies composed."""
        own = self.bags.subset(train)
        copies = np.flatnonzero(np.isin(self.bags.groups, own.groups))
        composed = compose(
            self.bags.subset(copies[copies >= self.tiles]),
            self._reserved(own, measuring=False),
            seed=len(train),
            reserved_class=self.healthy,
        )
        whole = replace(own, instance_truth=np.ones(len(own.instances), dtype=bool))
        return BagDataset.concatenate([whole, composed], keep_groups=True)

    def measured(self, test: np.ndarray) -> BagDataset:
        """Composed bags of tiles that were not learned from; where healthy is a class, of those with a finding."""
        own = self.bags.subset(test)
        repeats = 1 if self.healthy is not None else _BAGS_PER_TILE
        findings = np.flatnonzero(own.labels != self.healthy)
        return compose(own.subset(np.tile(findings, repeats)), self._reserved(own, measuring=True), MEASURED, seed=1)

    def _reserved(self, own: BagDataset, measuring: bool) -> np.ndarray:
        if self.outside is not None:
            return self.outside[measuring]
        return own.subset(np.flatnonzero(own.labels == self.healthy)).instances


def deep_tiles(tiles: TileSet, data: Path, copies: int) -> DeepTiles:
    """The tiles of a folder with `copies` augmented copies each."""
    everything = np.arange(len(tiles.find()[0]))
    space = tiles.label_space
    bags = tile_bags(tiles, "deep", "none", copies, Bar(f"{space.id} deep"), everything)
    return DeepTiles(bags, len(everything), None if space == LESION5 else _outside(data))


def _outside(data: Path) -> tuple[np.ndarray, np.ndarray]:
    names = LabelSpace.of(("ADI", "BACK"), id="outside")
    tiles = TileSet(data / "tissue7" / "outside", names, TISSUE7.source, "CC BY 4.0")
    everything = np.arange(len(tiles.find()[0]))
    first, second = (
        tile_bags(tiles, "deep", "none", 0, Bar("outside"), everything[start::2]).instances for start in (0, 1)
    )
    return first, second
