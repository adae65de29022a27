"""CRC-MIPL in the benchmark: rebuilt bags, the simulated crowd of each split, and ten 7:3 splits by tile."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from bag_generators.errors import InputError
from elimipl.benchmark.cells import SPLITS
from elimipl.benchmark.prepared import SEED, Prepared
from elimipl.benchmark.tile_bags import Progress
from elimipl.data.crc_mipl import build_crc_mipl
from elimipl.dataset import BagDataset
from elimipl.training.splits import stratified_splits

NAMES = (
    "NCT-CRC-HE-100K",
    "pathmnist_224.npz",
    "pathmnist.npz",
    "pathmnist/pathmnist_224.npz",
    "pathmnist/pathmnist.npz",
    "pathmnist/pathmnist_part.npz",
)
"""The folder of full tiles, or PathMNIST as MedMNIST hands it out, or a part of it with the same arrays."""


def find_crc(folders: Sequence[Path]) -> Path:
    """The tiles in the first folder that has them; refuses with a sentence on how to get them."""
    for folder in folders:
        for name in NAMES:
            if (folder / name).exists():
                return folder / name
    raise InputError(
        f"The tiles of CRC-MIPL are not in “{folders[0]}”.",
        "Put pathmnist.npz (medmnist.PathMNIST(split='train', download=True) gets it) or NCT-CRC-HE-100K/ there.",
    )


def prepare_crc(data: str, folders: Sequence[Path], kept: Path, progress: Progress | None = None) -> Prepared:
    """The bags of crc-row or crc-sbn; made now, unless they are in the folder `kept` already."""
    source, generator = find_crc(folders), data.removeprefix("crc-")
    key = hashlib.sha256(repr((source.name, source.stat().st_size)).encode()).hexdigest()[:12]
    file = kept / f"{data}-{key}.safetensors"
    if file.exists():
        dataset = BagDataset.load(file)
    else:
        dataset = build_crc_mipl(source, generator, seed=SEED, progress=progress)
        kept.mkdir(parents=True, exist_ok=True)
        dataset.save(file)
    return Prepared(dataset, stratified_splits(dataset.labels, SPLITS, seed=SEED), crowd=True)
