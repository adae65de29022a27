"""Benchmark bags after the paper's Table 1: a few instances of a target class hidden among instances of none.

A bag holds at least one instance of its true label and none of any false positive label, as the paper asks (section
3.1). The paper gives the number of bags, the smallest, largest and average bag size and the classes, a later paper of
its authors (CDL) the smallest and largest share of positives. Neither gives the distribution of the sizes nor the rule
for the positives in words; what is done about both is written at `bag_sizes` and `Recipe`.

**MNIST- and FMNIST-MIPL**: 500 bags of about 41 small grey pictures, 100 for each of five classes: MNIST's even digits,
and T-shirt, trouser, coat, sneaker and bag of Fashion-MNIST (the paper's appendix 3.1). The bags are filled up with the
other five. All pictures come from the training part (60,000), which is large enough that no picture is in the data set
twice. An instance is a picture row by row, 784 numbers from 0 to 1 (the files' 0..255 divided by 255).

**Digits**, for teaching: the same in miniature from the 1,797 pictures of 8×8 pixels that scikit-learn carries along.
100 bags of 8 to 12 pictures, two of them of the bag's even digit. The 906 odd digits are enough that none is in the
data set twice; larger recipes use some again.

**Birdsong-MIPL**: 1,300 bags of sounds, 100 for each of 13 bird species. The HJA recordings (Briggs, Fern and Raich
2012) are cut into 10,232 sounds of 38 numbers each; 4,998 of them carry one of 13 species, the rest carry none. A bag
has a few sounds of its species and is filled up with sounds of no species. The paper gives 25 to 76 sounds in a bag,
37.25 on average. One sound in twelve is of the species, halves rounded up: that is what the shares that the authors
print say (6.9 % and 10.0 %, CDL, Table 1). Whether a bag's sounds come from one recording isn't said: here they are
drawn from all recordings. 48,425 places for 10,232 sounds mean that sounds repeat: one of no species is in about nine
bags, and the rarest species (the hermit thrush) has 32 sounds for 100 bags. So the bags of a training and a test split
share sounds, as the authors' must.
"""

from __future__ import annotations

import gzip
import math
import struct
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bag_generators.base.errors import InputError
from elimipl.candidates.crowd import uniform_false_positives
from elimipl.candidates.labels import LabelSpace
from elimipl.datasets.dataset import BagDataset


@dataclass(frozen=True)
class Recipe:
    """How to mix bags. `positive_share` of a bag, halves rounded up and at least one instance, is of the bag's class.

    The default share of 8 % is that of MNIST- and FMNIST-MIPL: three positives in a bag of up to 43 and four in a
    larger one give the shares of 7.0 % to 9.1 % that the authors print (CDL, Table 1).
    """

    bags_per_class: int = 100
    smallest: int = 35
    largest: int = 48
    average: float = 41.33
    positive_share: float = 0.08

    def __post_init__(self) -> None:
        if self.bags_per_class < 1:
            raise InputError(f"{self.bags_per_class} bags for a class are too few.", "Choose at least one.")
        if not 1 <= self.smallest <= self.average <= self.largest:
            raise InputError(
                f"Bags of {self.smallest} to {self.largest} instances can't average {self.average:g}.",
                "Choose an average between the smallest and the largest size, which is at least 1.",
            )
        if not 0.0 < self.positive_share <= 1.0:
            raise InputError(
                f"A share of {self.positive_share:g} positive instances is not possible.",
                "Choose a number above 0 and up to 1.",
            )

    def positives(self, size: int) -> int:
        """Positive instances in a bag of `size`."""
        return max(1, math.floor(self.positive_share * size + 0.5 + 1e-9))  # 1/12 of 30 is a half, also in floats


def bag_sizes(count: int, recipe: Recipe) -> np.ndarray:
    """`count` bag sizes from small to large, (count,), with the recipe's range and average.

    Of all distributions with that range and average this is the one with the largest entropy, p(n) ∝ exp(λn).
    Its quantiles are taken, not random draws, so that range and average come out at every seed.
    """
    sizes = np.arange(recipe.smallest, recipe.largest + 1)
    low, high = -50.0, 50.0
    for _ in range(100):  # the average grows with λ
        tilt = (low + high) / 2
        exponents = tilt * (sizes - sizes[0 if tilt < 0 else -1])
        chances = np.exp(exponents) / np.exp(exponents).sum()
        low, high = (tilt, high) if chances @ sizes < recipe.average else (low, tilt)
    quantiles = (np.arange(count) + 0.5) / count
    return sizes[np.minimum(np.searchsorted(chances.cumsum(), quantiles), len(sizes) - 1)]


def mix_bags(
    features: np.ndarray,
    classes: np.ndarray,
    targets: Sequence[int],
    negatives: np.ndarray,
    label_space: LabelSpace,
    recipe: Recipe,
    *,
    r: int,
    seed: int,
    described: dict[str, Any],
) -> BagDataset:
    """Bags of instances of `features` (N, d), class by class, with r false positive labels each.

    `classes` (N,) says what each instance is, `targets` which value stands for each label, `negatives` (N,)
    bool which instances may fill the bags up. No instance is used twice before all of its kind have been used
    once, and none twice in a bag unless the bag needs more than there are. Bags with the same seed are the
    same at every r. `described` goes into the data set (generator, source, …).
    """
    rng = np.random.default_rng((seed, 1))  # apart from the draws of the candidate sets
    labels = np.repeat(np.arange(len(targets)), recipe.bags_per_class)
    sizes = rng.permutation(bag_sizes(len(labels), recipe))
    filling = Deck(np.flatnonzero(negatives), "of no target class", rng)
    hidden = [
        Deck(np.flatnonzero(classes == target), f"of the class “{name}”", rng)
        for target, name in zip(targets, label_space.names, strict=True)
    ]
    rows, truth = [], []
    for label, size in zip(labels, sizes, strict=True):
        positives = min(recipe.positives(int(size)), int(size))
        chosen = np.concatenate([hidden[label].deal(positives), filling.deal(int(size) - positives)])
        order = rng.permutation(len(chosen))
        rows.append(chosen[order])
        truth.append((np.arange(len(chosen)) < positives)[order])
    return BagDataset(
        instances=features[np.concatenate(rows)],
        offsets=np.concatenate([[0], np.cumsum(sizes)]),
        candidates=uniform_false_positives(labels, len(targets), r, seed),
        labels=labels,
        label_space=label_space,
        instance_truth=np.concatenate(truth),
        names=tuple(f"{label_space.names[label]} {i}" for i, label in enumerate(labels)),
        **{**described, "params": {**asdict(recipe), "r": r, "seed": seed, **described.get("params", {})}},
    )


class Deck:
    """Cards dealt from a shuffled pack, which is shuffled again only when it runs out."""

    def __init__(self, cards: np.ndarray, what: str, rng: np.random.Generator) -> None:
        if len(cards) == 0:
            raise InputError(f"There is no instance {what}.", "Check that the files hold the whole data set.")
        self._cards, self._rng = cards, rng
        self._left = rng.permutation(cards)

    def deal(self, count: int) -> np.ndarray:
        """The next `count` cards; the same card twice only where the whole pack is smaller than that."""
        hand, self._left = self._left[:count], self._left[count:]
        while len(hand) < count:
            pack = self._rng.permutation(self._cards)
            # Cards already in the hand go to the bottom.
            pack = np.concatenate([pack[~np.isin(pack, hand)], pack[np.isin(pack, hand)]])
            missing = count - len(hand)
            hand, self._left = np.concatenate([hand, pack[:missing]]), pack[missing:]
        return hand


EVEN_DIGITS = (0, 2, 4, 6, 8)
_SPECIES = {
    "BRCR": "Brown creeper",
    "WIWR": "Winter wren",
    "PSFL": "Pacific-slope flycatcher",
    "RBNU": "Red-breasted nuthatch",
    "DEJU": "Dark-eyed junco",
    "OSFL": "Olive-sided flycatcher",
    "HETH": "Hermit thrush",
    "CBCH": "Chestnut-backed chickadee",
    "VATH": "Varied thrush",
    "HEWA": "Hermit warbler",
    "SWTH": "Swainson's thrush",
    "HAFL": "Hammond's flycatcher",
    "WETA": "Western tanager",
}


def _digits(id_: str, source: str) -> LabelSpace:
    said = [f"The handwritten digit {digit}." for digit in EVEN_DIGITS]
    return LabelSpace.of(map(str, EVEN_DIGITS), id=id_, descriptions=said, source=source)


MNIST = _digits("mnist5", "MNIST (LeCun, Bottou, Bengio and Haffner 1998)")
FMNIST = LabelSpace.of(
    ["T-shirt/top", "Trouser", "Coat", "Sneaker", "Bag"],
    id="fmnist5",
    descriptions=["A T-shirt or top.", "Trousers.", "A coat.", "A sneaker.", "A bag."],
    source="Fashion-MNIST (Xiao, Rasul and Vollgraf 2017)",
)
DIGITS = _digits("digits5", "Optical recognition of handwritten digits (Alpaydin and Kaynak 1998), as in scikit-learn")
BIRDSONG = LabelSpace.of(
    _SPECIES,
    id="birdsong13",
    descriptions=[f"{name}." for name in _SPECIES.values()],
    source="HJA birdsong (Briggs, Fern and Raich 2012)",
)
MNIST_RECIPE = Recipe(smallest=35, largest=48, average=41.33)
FMNIST_RECIPE = Recipe(smallest=36, largest=48, average=41.62)
DIGITS_RECIPE = Recipe(bags_per_class=20, smallest=8, largest=12, average=10.0, positive_share=0.2)
BIRDSONG_RECIPE = Recipe(smallest=25, largest=76, average=37.25, positive_share=1 / 12)


def build_mnist(folder: str | Path, *, r: int = 1, seed: int = 0, recipe: Recipe = MNIST_RECIPE) -> BagDataset:
    """MNIST-MIPL with r false positive labels, from a folder of idx files."""
    images, classes = _read_pictures(Path(folder), "MNIST/raw")
    source = f"{MNIST.source}, training part"
    return _of_pictures(images / np.float32(255), classes, EVEN_DIGITS, MNIST, recipe, r, seed, source, "CC BY-SA 3.0")


def build_fmnist(folder: str | Path, *, r: int = 1, seed: int = 0, recipe: Recipe = FMNIST_RECIPE) -> BagDataset:
    """FMNIST-MIPL with r false positive labels, from a folder of idx files."""
    images, classes = _read_pictures(Path(folder), "FashionMNIST/raw")
    source = f"{FMNIST.source}, training part"
    return _of_pictures(images / np.float32(255), classes, (0, 1, 4, 7, 8), FMNIST, recipe, r, seed, source, "MIT")


def build_digits(*, r: int = 1, seed: int = 0, recipe: Recipe = DIGITS_RECIPE) -> BagDataset:
    """Digit bags with r false positive labels.

    >>> build_digits(r=2)
    BagDataset(100 bags of 8..12 x 64, digits5, generator='pixels')
    """
    from sklearn.datasets import load_digits  # slow to import

    digits = load_digits()
    images = (digits.images / 16.0).astype(np.float32)
    return _of_pictures(images, digits.target, EVEN_DIGITS, DIGITS, recipe, r, seed, DIGITS.source, "CC BY 4.0")


def _of_pictures(
    images: np.ndarray,
    classes: np.ndarray,
    targets: Sequence[int],
    label_space: LabelSpace,
    recipe: Recipe,
    r: int,
    seed: int,
    source: str,
    licence: str,
) -> BagDataset:
    about = {"generator": "pixels", "source": source, "licence": licence, "params": {"image": list(images.shape[1:])}}
    pixels, others = images.reshape(len(images), -1), ~np.isin(classes, targets)
    return mix_bags(pixels, classes, targets, others, label_space, recipe, r=r, seed=seed, described=about)


def build_birdsong(path: str | Path, *, r: int = 1, seed: int = 0, recipe: Recipe = BIRDSONG_RECIPE) -> BagDataset:
    """Birdsong-MIPL from `hja_birdsong.npz`, with r false positive labels.

    The file has `X` (N, 38) and `label` (N,), 1 to 13 for a species and −1 for none.
    """
    try:
        with np.load(path, allow_pickle=False) as arrays:
            features, species = np.asarray(arrays["X"], dtype=np.float32), np.asarray(arrays["label"])
    except FileNotFoundError:
        raise InputError(f"There is no file “{path}”.", "Give the path of hja_birdsong.npz.") from None
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile):
        raise InputError(
            f"“{path}” is not the birdsong data.", "It has to be an npz file with the arrays X and label."
        ) from None
    targets = range(1, len(BIRDSONG) + 1)
    if features.ndim != 2 or species.shape != features.shape[:1] or not np.isin(species, [-1, *targets]).all():
        raise InputError(
            f"The arrays of “{path}” don't fit together.",
            "X needs one row for each entry of label, which is 1 to 13, or -1 for no species.",
        )
    about = {"generator": "birdsong", "source": BIRDSONG.source, "licence": "research use"}
    return mix_bags(features, species, targets, species == -1, BIRDSONG, recipe, r=r, seed=seed, described=about)


def _read_pictures(folder: Path, subfolder: str) -> tuple[np.ndarray, np.ndarray]:
    """The training images (N, h, w) and classes (N,), uint8, wherever a download put the idx files."""
    images = _read_idx(_find_idx(folder, subfolder, "train-images", "idx3"), dims=3)
    classes = _read_idx(_find_idx(folder, subfolder, "train-labels", "idx1"), dims=1)
    if len(images) != len(classes):
        raise InputError(
            f"“{folder}” holds {len(images)} images but {len(classes)} labels.",
            "Keep the image and the label file of one download together.",
        )
    return images, classes


def _find_idx(folder: Path, subfolder: str, stem: str, kind: str) -> Path:
    names = [f"{stem}{dot}{kind}-ubyte{packed}" for dot in "-." for packed in ("", ".gz")]
    for searched in (folder, folder / "raw", folder / subfolder):
        for name in names:
            if (searched / name).is_file():
                return searched / name
    raise InputError(
        f"There is no “{names[0]}” (or “{names[1]}”) in “{folder}”.",
        "Give the folder of the idx files or the one that torchvision.datasets downloaded to.",
    )


def _read_idx(path: Path, dims: int) -> np.ndarray:
    """A magic number, `dims` big-endian sizes, then bytes."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            content = file.read()
        if content[:4] != bytes([0, 0, 8, dims]):
            raise ValueError("another kind of file")
        start = 4 + 4 * dims
        return np.frombuffer(content, np.uint8, offset=start).reshape(struct.unpack(f">{dims}I", content[4:start]))
    except (OSError, EOFError, zlib.error, struct.error, ValueError):
        raise InputError(f"“{path}” is not a whole idx file of {dims} dimension(s).", "Download it again.") from None
