"""Composed bags as pictures: 36 patches in six rows, real ones where the tiles are on disk, else drawn ones.

The features are those of real patches and come with the project; pixels do not. A teacher who has the tiles sets
ELIMIPL_TILES to the folder that holds `train/`, `outside/` and `SOURCES.csv`.
"""

import csv
import hashlib
import os
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
import streamlit as st

from bag_generators import Bag, InputError, TissueImage, load
from bag_generators.assets import assets
from bag_generators.regions import BoxRegions
from bag_generators.tissue.phantom import PHANTOM_KINDS, draw
from elimipl.dataset import BagDataset
from ui.lesson.recorded import attention_runs

VARIABLE = "ELIMIPL_TILES"
BAGS_FILE = assets("lessons", "composed-deep.safetensors")
SIDE, PER_ROW = 56, 6
GLASS = 243
_FAT, _BARE = "ADI", "BACK"


@st.cache_resource(show_spinner=False)
def composed_bags() -> BagDataset:
    """The held-out composed bags that the lesson shows, with the truth of their instances."""
    return BagDataset.load(BAGS_FILE, f"The composed bags “{BAGS_FILE.name}”")


def composed_bag(number: int) -> tuple[TissueImage, Bag, np.ndarray, bool]:
    """Picture, bag and truth (n,) bool of a composed bag, and whether the picture shows the real patches."""
    return _composed(number, os.environ.get(VARIABLE, "").strip())


@st.cache_resource(max_entries=32, show_spinner=False)
def _composed(number: int, folder: str) -> tuple[TissueImage, Bag, np.ndarray, bool]:
    bags = composed_bags()
    origins = attention_runs().origins[number]
    kind = bags.label_space.names[bags.labels[number]]
    assert bags.instance_truth is not None
    truth = bags.instance_truth[bags.offsets[number] : bags.offsets[number + 1]]
    patches = _real_patches(Path(folder), origins) if folder else None
    real = patches is not None
    if patches is None:
        patches = [drawn_patch(origin, kind if own else "") for origin, own in zip(origins, truth, strict=True)]
    rows = [np.concatenate(patches[start : start + PER_ROW], axis=1) for start in range(0, len(patches), PER_ROW)]
    image = TissueImage.from_array(np.concatenate(rows))
    features = bags.bag(number).copy()
    boxes = [(SIDE * (i % PER_ROW), SIDE * (i // PER_ROW), SIDE * (i % PER_ROW + 1), SIDE * (i // PER_ROW + 1))
             for i in range(len(features))]  # fmt: skip
    names = tuple(f"feature {i}" for i in range(features.shape[1]))
    bag = Bag(features, BoxRegions(boxes, image.pixels.shape[:2]), bags.generator, bags.params, names, image.sha256)
    return image, bag, truth, real


def drawn_patch(origin: str, kind: str) -> np.ndarray:
    """A drawing, (56, 56, 3) uint8, in the place of a real patch: of its class, or of fat or glass; always the same."""
    seed = int.from_bytes(hashlib.sha256(origin.encode()).digest()[:4], "big")
    if not kind and _BARE in origin:
        noise = np.random.default_rng(seed).normal(GLASS, 1.5, (SIDE, SIDE, 3))
        return np.clip(np.rint(noise), 0, 255).astype(np.uint8)
    pixels, truth = _drawn(kind or next(iter(PHANTOM_KINDS)), bool(kind), seed % 5)
    corners = [
        (y, x) for y in range(0, len(truth) - SIDE + 1, SIDE // 2) for x in range(0, len(truth) - SIDE + 1, SIDE // 2)
    ]
    shares = [truth[y : y + SIDE, x : x + SIDE].mean() for y, x in corners]
    fitting = [
        corner for corner, share in zip(corners, shares, strict=True) if (share == max(shares) if kind else share == 0)
    ]
    best = fitting if len(fitting) > 3 or not kind else [corners[i] for i in np.argsort(shares)[-6:]]
    y, x = best[seed % len(best)]
    return pixels[y : y + SIDE, x : x + SIDE]


@lru_cache(maxsize=64)
def _drawn(kind: str, carries: bool, seed: int) -> tuple[np.ndarray, np.ndarray]:
    phantom = draw(kind, seed, coverage=0.9 if carries else 0.1, background="fat")
    return phantom.pixels, phantom.truth


def _real_patches(folder: Path, origins: Sequence[str]) -> list[np.ndarray] | None:
    """The patches from the tiles on disk; None where a tile is not there."""
    files = _files(folder)
    patches = []
    for origin in origins:
        name, _, patch = origin.rpartition(" ")
        if name not in files:
            return None
        try:
            pixels = load(files[name]).pixels
        except InputError:
            return None
        per_row = pixels.shape[1] // SIDE
        y, x = SIDE * (int(patch) // per_row), SIDE * (int(patch) % per_row)
        patches.append(pixels[y : y + SIDE, x : x + SIDE])
    return patches if all(patch.shape == (SIDE, SIDE, 3) for patch in patches) else None


def _files(folder: Path) -> dict[str, Path]:
    """Files by what their tile is called in the published data set; empty where the folder is not as described."""
    try:
        with (folder / "SOURCES.csv").open(encoding="utf-8", newline="") as file:
            rows = [row for row in csv.DictReader(file) if {"file", "dataset", "tile"} <= row.keys()]
    except (OSError, UnicodeDecodeError, csv.Error):
        return {}
    found = {
        f"{row['dataset'].partition(',')[0]}/{row['tile']}": folder / Path(*Path(row["file"]).parts[-3:])
        for row in rows
    }
    return {name: path for name, path in found.items() if path.is_file()}
