"""MNIST-MIPL and FMNIST-MIPL: 500 bags of about 41 small grey pictures, 100 for each of five classes.

Which five classes are the targets is the paper's choice (its appendix 3.1): MNIST's even digits, and T-shirt, trouser,
coat, sneaker and bag of Fashion-MNIST. The bags are filled up with the other five. All pictures come from the training
part (60,000), which is large enough that no picture is in the data set twice. An instance is a picture row by row, 784
numbers from 0 to 1 (the files' 0..255 divided by 255).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from elimipl.data.idx_files import read_part
from elimipl.data.mixed_bags import Recipe, mix_bags
from elimipl.dataset import BagDataset
from elimipl.labels import LabelSpace

# Bag sizes of the paper's Table 1
MNIST_RECIPE = Recipe(smallest=35, largest=48, average=41.33)
FMNIST_RECIPE = Recipe(smallest=36, largest=48, average=41.62)


@dataclass(frozen=True)
class _Pictures:
    label_space: LabelSpace
    targets: tuple[int, ...]  # the classes that stand for the labels; the others fill the bags up
    subfolders: tuple[str, ...]  # where torchvision puts the files
    licence: str


_EVEN = (0, 2, 4, 6, 8)
_MNIST = _Pictures(
    LabelSpace.of(
        [str(digit) for digit in _EVEN],
        id="mnist5",
        descriptions=[f"The handwritten digit {digit}." for digit in _EVEN],
        source="MNIST (LeCun, Bottou, Bengio and Haffner 1998)",
    ),
    _EVEN,
    ("MNIST/raw",),
    "CC BY-SA 3.0",
)
_FASHION = _Pictures(
    LabelSpace.of(
        ["T-shirt/top", "Trouser", "Coat", "Sneaker", "Bag"],
        id="fmnist5",
        descriptions=["A T-shirt or top.", "Trousers.", "A coat.", "A sneaker.", "A bag."],
        source="Fashion-MNIST (Xiao, Rasul and Vollgraf 2017)",
    ),
    (0, 1, 4, 7, 8),
    ("FashionMNIST/raw",),
    "MIT",
)


def build_mnist(folder: str | Path, *, r: int = 1, seed: int = 0, recipe: Recipe = MNIST_RECIPE) -> BagDataset:
    """MNIST-MIPL with r false positive labels, from a folder of idx files."""
    return _build(_MNIST, Path(folder), r, seed, recipe)


def build_fmnist(folder: str | Path, *, r: int = 1, seed: int = 0, recipe: Recipe = FMNIST_RECIPE) -> BagDataset:
    """FMNIST-MIPL with r false positive labels, from a folder of idx files."""
    return _build(_FASHION, Path(folder), r, seed, recipe)


def _build(pictures: _Pictures, folder: Path, r: int, seed: int, recipe: Recipe) -> BagDataset:
    images, classes = read_part(folder, "train", pictures.subfolders)
    pixels = images.reshape(len(images), -1).astype(np.float32) / np.float32(255)
    return mix_bags(
        pixels,
        classes,
        pictures.targets,
        ~np.isin(classes, pictures.targets),
        pictures.label_space,
        recipe,
        r=r,
        seed=seed,
        described={
            "generator": "pixels",
            "source": f"{pictures.label_space.source}, training part",
            "licence": pictures.licence,
            "params": {"image": list(images.shape[1:])},
        },
    )
