"""Bags of a folder of real tiles, with label-preserving copies, made once and kept under runs/."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tqdm import tqdm

from bag_generators import TissueImage, generate, load
from bag_generators.pool import in_processes, number_of_workers
from bag_generators.tissue.augment import augmented
from bag_generators.tissue.quality import measure_for
from elimipl.data.tiles import find_tiles
from elimipl.dataset import BagDataset
from elimipl.labels import LabelSpace

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "runs" / "tile_bags"


@dataclass(frozen=True)
class TileSet:
    """A folder of class folders, and whose pictures they are."""

    folder: Path
    label_space: LabelSpace
    source: str
    licence: str

    def find(self) -> tuple[list[Path], np.ndarray]:
        """The tiles in order, and their labels."""
        paths, labels, _ = find_tiles(self.folder, self.label_space)
        return paths, np.array(labels)


def tile_bags(
    tiles: TileSet, generator: str, stain: str, copies: int, progress: Callable[[int, int], None], chosen: np.ndarray
) -> BagDataset:
    """One bag per chosen tile, then `copies` augmented bags of each; copies of a tile share its group.

    Copy c of tile i is always the same picture, whatever else is asked for.
    """
    paths, labels = tiles.find()
    key = hashlib.sha256(
        repr((tiles.folder.parts[-2:], generator, stain, copies, chosen.tolist())).encode()
    ).hexdigest()
    kept = KEPT / f"{tiles.label_space.id}-{generator}-{stain}-{copies}-{key[:12]}.safetensors"
    if kept.exists():
        return BagDataset.load(kept)
    work = [(int(i), str(paths[i])) for i in chosen]
    made = []
    shared = (generator, stain, copies)
    for _, bags in in_processes(_bags_of_tile, work, number_of_workers(None, len(work)), shared=shared, ahead=4):
        made.append(bags)
        progress(len(made), len(work))
    params = {"stain": stain}
    features = [bags[copy] for copy in range(copies + 1) for bags in made]
    dataset = BagDataset.from_bags(
        features,
        tiles.label_space,
        labels=np.tile(labels[chosen], copies + 1),
        generator=generator,
        params=params,
        groups=np.tile(chosen, copies + 1),
        names=tuple(f"{paths[i].parent.name}/{paths[i].name}" for _ in range(copies + 1) for i in chosen),
        source=tiles.source,
        licence=tiles.licence,
    )
    KEPT.mkdir(parents=True, exist_ok=True)
    dataset.save(kept)
    return dataset


def _bags_of_tile(generator: str, stain: str, copies: int, tile: tuple[int, str]) -> list[np.ndarray]:
    index, path = tile
    image = load(path)
    rng = np.random.default_rng([index, 20241])
    pictures = [image, *(TissueImage.from_array(augmented(image.pixels, rng)) for _ in range(copies))]
    return [generate(generator, picture, stain=stain).features for picture in pictures]


def tile_qualities(tiles: TileSet, generator: str) -> list[dict[str, float]]:
    """The pixel measures of all tiles, for the limits of the scope checks."""
    return [
        measure_for(generator, load(path)).numbers() for path in tqdm(tiles.find()[0], desc="qualities", leave=False)
    ]
