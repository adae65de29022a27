"""Bags of real colorectal tiles in the place of CRC-MIPL: five lesions and seven tissues, four generators.

lesion5 is tested on `val`, tiles of other slides than `train`: split i learns from a random 70 % of every class of
`train` and is tested on all of `val`. tissue7 has no second set of slides: its splits are 7:3 by tile. Stains are
normalised as for the shipped models; there are no augmented copies. Bags are kept on disk once made; remove the folder
after a generator has changed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from bag_generators.errors import InputError
from elimipl.benchmark.cells import SPLITS
from elimipl.benchmark.prepared import SEED, Prepared
from elimipl.data.tiles import bags_from_tiles, find_tiles
from elimipl.dataset import BagDataset
from elimipl.labels import LESION5, TISSUE7, LabelSpace
from elimipl.training.splits import stratified_splits

Progress = Callable[[int, int], None]
"""Called with the number of tiles done and of all."""

_SPACES: Mapping[str, LabelSpace] = {space.id: space for space in (LESION5, TISSUE7)}
_STAINS = {"lesion5": {"row": "tones", "sbn": "tones", "kmeansseg": "tones", "sift": "none"}}


def find_tile_folder(space: str, folders: Sequence[Path]) -> Path:
    """The folder of a label space's tiles; refuses with a sentence on what has to be there."""
    for folder in folders:
        if (folder / space / "train").is_dir():
            return folder / space
    needed = "train and val" if space == "lesion5" else "train"
    raise InputError(
        f"There are no tiles of {space} in “{folders[0]}”.",
        f"Put {space}/ with the folder {needed} there, each with a folder of pictures for each class.",
    )


def prepare_tiles(data: str, folders: Sequence[Path], kept: Path, progress: Progress | None = None) -> Prepared:
    """The bags of `data`, such as lesion5-row; made now, unless they are in the folder `kept` already."""
    space, _, generator = data.partition("-")
    folder = find_tile_folder(space, folders)
    train = _bags(folder / "train", space, generator, kept, progress)
    splits = stratified_splits(train.labels, SPLITS, seed=SEED, groups=train.groups)
    if space != "lesion5":
        return Prepared(train, splits, crowd=True)
    other_slides = _bags(folder / "val", space, generator, kept, progress)
    test = np.arange(len(train), len(train) + len(other_slides))
    every = BagDataset.concatenate([train, other_slides])
    return Prepared(every, [(chosen, test) for chosen, _ in splits], crowd=True)


def _bags(folder: Path, space: str, generator: str, kept: Path, progress: Progress | None) -> BagDataset:
    stain = _STAINS.get(space, {}).get(generator, "none")
    paths, _, _ = find_tiles(folder, _SPACES[space])
    listed = [(path.relative_to(folder).as_posix(), path.stat().st_size) for path in paths]
    key = hashlib.sha256(repr(listed).encode()).hexdigest()[:12]
    file = kept / f"{space}-{folder.name}-{generator}-{stain}-{key}.safetensors"
    if file.exists():
        return BagDataset.load(file)
    built = bags_from_tiles(
        folder, generator, label_space=_SPACES[space], progress=progress, source=_SPACES[space].source, stain=stain
    )
    for path, error in built.refused:
        raise InputError(f"The tile “{path}” can't be used: {error.what}", "Remove it or get it again.")
    kept.mkdir(parents=True, exist_ok=True)
    built.dataset.save(file)
    return built.dataset
