"""Bags of the size of the paper's CRC-MIPL-KMeansSeg: 7,000 bags of 3..6 × 6, seven classes, 2.08 candidates each."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bag_generators import InputError, TissueImage, generate, generate_many, load
from elimipl.data.crowd import simulate
from elimipl.data.tiles import find_tiles
from elimipl.dataset import BagDataset
from elimipl.labels import TISSUE7

BAGS = 7000
_SIZES, _SHARES = (3, 4, 5, 6), (0.27, 0.33, 0.22, 0.18)  # mean 4.31, as in the paper's Table 1


def made_bags(seed: int = 0) -> BagDataset:
    """Seeded stand-ins for tissue: each class mixes its own two materials with three that all classes share."""
    rng = np.random.default_rng(seed)
    k = len(TISSUE7)
    shared = np.broadcast_to(rng.normal(0, 1.5, (3, 6)), (k, 3, 6))
    materials = np.concatenate([rng.normal(0, 1.5, (k, 2, 6)), shared], axis=1)  # (k, 5, 6)
    labels = np.arange(BAGS) % k
    sizes = rng.choice(_SIZES, BAGS, p=_SHARES)
    starts = np.cumsum(sizes) - sizes
    bag_of = np.repeat(np.arange(BAGS), sizes)
    material = rng.choice(5, len(bag_of), p=(0.3, 0.2, 0.2, 0.15, 0.15))
    material[starts] = rng.integers(0, 2, BAGS)  # at least one instance carries the class
    stain = rng.normal(0, 0.4, (BAGS, 6))
    instances = materials[labels[bag_of], material] + stain[bag_of] + rng.normal(0, 0.6, (len(bag_of), 6))
    return BagDataset(
        instances=instances,
        offsets=np.append(starts, len(bag_of)),
        candidates=simulate(labels, TISSUE7, seed=seed).candidates,
        labels=labels,
        label_space=TISSUE7,
        generator="kmeansseg",
        source="made-up bags",
    )


def tile_bags(folder: Path, seed: int = 0) -> BagDataset:
    """KMeansSeg bags of the tiles in the class folders of `folder`, filled up to 7,000 with mirrored ones."""
    paths, labels, space = find_tiles(folder)
    features = [_features(path, bag) for path, bag in generate_many("kmeansseg", paths)]
    rng = np.random.default_rng(seed)
    extra = rng.permutation(len(paths))[: BAGS - len(paths)]
    for i in extra:
        mirrored = TissueImage.from_array(load(paths[i]).pixels[:, ::-1])
        features.append(generate("kmeansseg", mirrored).features)
    every = np.concatenate([labels, np.asarray(labels)[extra]])
    groups = np.concatenate([np.arange(len(paths)), extra])
    candidates = simulate(every, space, target_size=2.08, seed=seed).candidates
    return BagDataset.from_bags(
        features, space, every, candidates, generator="kmeansseg", groups=groups, source=folder.name
    )


def _features(path: Path, bag: object) -> np.ndarray:
    if isinstance(bag, InputError):
        raise InputError(f"“{path.name}”: {bag.what}", bag.fix)
    return bag.features
