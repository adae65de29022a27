"""The real pictures behind the colon model, with the group and the part of each.

Parts: `train` teaches encoder and models, `held_back` is seen by neither and only measured on. Groups never cross a
fold: a tile (tissue7), a slide (kather8), a pseudo-slide (lesion5, whose slides are not known), a case (ebhi6).
"""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import cv2
import numpy as np
from PIL import Image
from sklearn.cluster import KMeans

from bag_generators import load
from bag_generators.tissue.stain import DENSITY

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT.parent / "shared" / "data"
TISSUE7_HELD_BACK = Path(__file__).with_name("tissue7_held_back.txt")
KATHER8_HELD_BACK = ("s03", "s08")
SOURCES = ("tissue7", "kather8", "lesion5", "ebhi6")
"""Those that give bags; PathMNIST, which shows tissue7's slides at 28 px, teaches the encoder only."""
FOLDS = 3
SLIDES_PER_CLASS = 6
"""lesion5's tiles carry no slide numbers, and a random split puts neighbours of one slide on both sides. Tiles of one
class with the same stain are taken for one slide: k-means on the stain's statistics, class by class."""


@dataclass(frozen=True)
class Picture:
    """One picture file and what is known of it."""

    path: Path
    source: str
    label: str
    """Its class in its own source's label system."""
    group: str
    held_back: bool
    fold: int
    """0..2; a group lies in one fold."""

    @property
    def mask(self) -> Path | None:
        """The gland mask beside it."""
        mask = self.path.with_name(f"{self.path.stem}_mask.png")
        return mask if mask.is_file() else None

    def pixels(self) -> np.ndarray:
        """(h, w, 3) uint8 RGB."""
        read = cv2.imread(str(self.path))
        if read is None:
            sys.exit(f"{self.path} can't be read.")
        return np.ascontiguousarray(read[..., ::-1])


def pictures(source: str, data: Path = DATA) -> list[Picture]:
    """All pictures of a source, in a fixed order."""
    found = {"tissue7": _tissue7, "kather8": _kather8, "lesion5": _lesion5, "ebhi6": _ebhi6}[source](data)
    if not found:
        sys.exit(f"There are no pictures of {source} in {data}. Give the folder of the sources as --data.")
    return found


def _files(*folders: Path) -> list[Path]:
    return [
        path
        for folder in folders
        for path in sorted(folder.glob("*/*"))
        if path.suffix in (".png", ".jpg") and not path.stem.endswith("_mask")
    ]


def _fold(*named: str) -> int:
    return hashlib.sha256("/".join(named).encode()).digest()[0] % FOLDS


def _tissue7(data: Path) -> list[Picture]:
    held = set(TISSUE7_HELD_BACK.read_text(encoding="utf-8").split())
    root = data / "tissue7"
    paths = _files(*(root / part for part in ("train", "more", "outside", "nct100k")))
    named = [(path, path.relative_to(root).as_posix()) for path in paths]
    return [Picture(path, "tissue7", path.parent.name, name, name in held, _fold(name)) for path, name in named]


_KATHER8_FOLDS = {"s01": 0, "s04": 0, "s05": 1, "s02": 2, "s06": 2, "s03": 0, "s08": 0}


def _kather8(data: Path) -> list[Picture]:
    found = []
    for path in _files(data / "kather8"):
        slide = re.search(r"_(s\d\d)_", path.name)[1]
        held = slide in KATHER8_HELD_BACK
        found.append(Picture(path, "kather8", path.parent.name, slide, held, _KATHER8_FOLDS[slide]))
    return found


def _lesion5(data: Path) -> list[Picture]:
    train, val = _files(data / "lesion5" / "train"), _files(data / "lesion5" / "val")
    slide = _lesion5_slides(tuple(train)) if train else ()
    found = [
        Picture(path, "lesion5", path.parent.name, f"{path.parent.name}/{number}", False, number % FOLDS)
        for path, number in zip(train, slide, strict=True)
    ]
    return found + [Picture(path, "lesion5", path.parent.name, "val", True, 0) for path in val]


@lru_cache(maxsize=2)
def _lesion5_slides(paths: tuple[Path, ...]) -> tuple[int, ...]:
    kept = ROOT / "runs" / "lesion5_stains.npy"
    if not kept.is_file() or len(statistics := np.load(kept)) != len(paths):
        statistics = np.array([stain_statistics(path) for path in paths])
        kept.parent.mkdir(exist_ok=True)
        np.save(kept, statistics)
    labels = np.unique([path.parent.name for path in paths], return_inverse=True)[1]
    return tuple(int(number) for number in pseudo_slides(statistics, labels))


def stain_statistics(path: Path) -> np.ndarray:
    """What a slide gives all its tiles, (14,): hues of its tissue, colour of its glass, density and grain."""
    pixels = load(path).pixels
    density = cv2.LUT(pixels, DENSITY)[::2, ::2].reshape(-1, 3)
    tissue = density[density.mean(axis=1) > 0.15]  # glass is paler
    if len(tissue) < 200:
        tissue = density
    strength = np.linalg.norm(tissue, axis=1, keepdims=True)
    hue = tissue / np.maximum(strength, 1e-6)
    red, blue = hue[:, 0] - hue[:, 1], hue[:, 2] - hue[:, 1]
    hues = np.percentile(red, (10, 50, 90)), np.percentile(blue, (10, 50, 90))
    glass, dense = np.percentile(pixels.reshape(-1, 3), 99.5, axis=0) / 255, np.percentile(strength, (25, 50, 75, 95))
    grain = np.log(cv2.Laplacian(cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY), cv2.CV_32F).std() + 1)
    return np.concatenate([*hues, glass, dense, [grain]])


def pseudo_slides(statistics: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """The fold of each tile, (m,): fold h holds the h-th largest pseudo-slide of every class."""
    standard = (statistics - statistics.mean(axis=0)) / statistics.std(axis=0)
    folds = np.zeros(len(labels), dtype=int)
    for label in np.unique(labels):
        members = np.flatnonzero(labels == label)
        slide = KMeans(SLIDES_PER_CLASS, n_init=5, random_state=0).fit_predict(np.clip(standard[members], -2.5, 2.5))
        by_size = np.argsort(-np.bincount(slide, minlength=SLIDES_PER_CLASS), kind="stable")
        folds[members] = np.argsort(by_size)[slide]
    return folds


def _ebhi6(data: Path) -> list[Picture]:
    found = []
    for part in ("train", "val"):
        for path in _files(data / "ebhi6" / part):
            case = path.stem.split("-")[0]
            found.append(Picture(path, "ebhi6", path.parent.name, case, part == "val", _fold(case)))
    return found


def pathmnist(data: Path = DATA) -> tuple[np.ndarray, np.ndarray]:
    """Its training part without the pictures that tissue7 holds back: (n, 28, 28, 3) uint8, (n,) labels 0..8."""
    held = held_back_at_28(data)
    with np.load(data / "pathmnist" / "pathmnist_part.npz") as npz:
        images, labels = npz["train_images"], npz["train_labels"].ravel().astype(int)
    kept = np.array([image.tobytes() not in held for image in images])
    return images[kept], labels[kept]


def held_back_at_28(data: Path = DATA) -> set[bytes]:
    """tissue7's held-back tiles as PathMNIST would show them."""
    return {
        np.asarray(Image.fromarray(p.pixels()).resize((28, 28), Image.Resampling.BILINEAR)).tobytes()
        for p in pictures("tissue7", data)
        if p.held_back
    }


def taught(source: str, data: Path = DATA, without_fold: int | None = None) -> Sequence[Picture]:
    """The pictures of a source that teach, without one fold where that is asked for."""
    return [p for p in pictures(source, data) if not p.held_back and p.fold != without_fold]
