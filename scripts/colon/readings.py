"""Pictures as a generator reads them: computed once per reader and pictures, and kept in runs/."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from tqdm import tqdm

from bag_generators import TissueImage, generate
from bag_generators.generators.deep import grid_of
from bag_generators.generators.encoder import CELL, Encoder
from bag_generators.tissue.stain import augmented
from elimipl.candidates.labels import COLON
from elimipl.datasets.colon import SOURCES
from scripts.colon.sources import ROOT, Picture

PER_CLASS = 16  # pictures that the projection of an encoder which does not ship is fitted on
KEPT = ROOT / "runs" / "readings"


@dataclass(frozen=True, eq=False)
class Reader:
    """What makes instances of a picture: a generator, Deep with any encoder."""

    generator: str
    params: Mapping[str, Any]
    """As on a card."""
    encoder: Encoder | None = None

    @cached_property
    def fingerprint(self) -> str:
        """What tells readers apart whose generator has the same name: what an encoder makes of noise."""
        if self.encoder is None:
            return f"{self.generator} {self.params['stain']}"
        pixels = np.random.default_rng(0).integers(0, 256, (70, 70, 3)).astype(np.uint8)
        return hashlib.sha256(self.encoder.cells(pixels, (5, 5)).round(3).tobytes()).hexdigest()

    def __call__(self, pixels: np.ndarray) -> tuple[np.ndarray, tuple[int, int]]:
        """(h, w, 3) uint8 → instances (n, d) and their rows and columns; (n, 1) where they form no grid."""
        if self.encoder is None:
            features = generate(self.generator, TissueImage.from_array(pixels), **self.params).features
            return features, (len(features), 1)
        grid = grid_of(*pixels.shape[:2])
        return self.encoder.cells(pixels, grid), grid


def cell_reader(encoder: Encoder) -> Reader:
    """Deep, with any encoder."""
    return Reader("deep", {"stain": "none", "cell": CELL}, encoder)


@dataclass(frozen=True, eq=False)
class Readings:
    """Some pictures as a reader sees them."""

    pictures: Sequence[Picture]
    features: list[np.ndarray]  # (n, d) each, row by row
    grids: list[tuple[int, int]]

    def __len__(self) -> int:
        return len(self.pictures)

    def subset(self, chosen: Sequence[int] | np.ndarray) -> Readings:
        """Those at some positions."""
        return Readings(
            [self.pictures[i] for i in chosen], [self.features[i] for i in chosen], [self.grids[i] for i in chosen]
        )

    @cached_property
    def meant(self) -> np.ndarray:
        """(m, 12) bool: the classes of the colon that the source's label may mean."""
        named = [SOURCES[p.source][p.label] for p in self.pictures]
        return np.array([[name in one for name in COLON.names] for one in named])

    def glands(self) -> list[np.ndarray]:
        """Share of each cell that the mask calls gland, (n,) each."""
        found = []
        for picture, grid in zip(self.pictures, self.grids, strict=True):
            mask = cv2.imread(str(picture.mask), cv2.IMREAD_GRAYSCALE)
            share = cv2.resize((mask > 127).astype(np.float32), grid[::-1], interpolation=cv2.INTER_AREA)
            found.append(share.ravel())
        return found


def read(reader: Reader, pictures: Sequence[Picture], copies: int = 0) -> Readings:
    """The instances of every picture, then of `copies` augmented copies of each."""
    named = ",".join(f"{p.source}/{p.path.name}" for p in pictures)
    key = hashlib.sha256(f"{reader.fingerprint} {copies} {named}".encode()).hexdigest()[:16]
    kept = KEPT / f"{key}.npz"
    shown = [p for _ in range(copies + 1) for p in pictures]
    if kept.is_file():
        with np.load(kept) as file:
            grids = [(int(r), int(c)) for r, c in file["grids"]]
            ends = np.cumsum([r * c for r, c in grids])[:-1]
            return Readings(shown, np.split(file["features"], ends), grids)
    features, grids = [], []
    for i, picture in enumerate(tqdm(shown, desc=f"{reader.generator}, {pictures[0].source}", mininterval=20)):
        pixels = picture.pixels()
        if i >= len(pictures):
            pixels = augmented(pixels, np.random.default_rng((i, 20241)))
        found, grid = reader(pixels)
        features.append(found.astype(np.float16 if reader.generator == "deep" else np.float32))
        grids.append(grid)
    KEPT.mkdir(parents=True, exist_ok=True)
    np.savez(kept, features=np.concatenate(features), grids=np.array(grids))
    return Readings(shown, features, grids)


def encoder_from(path: Path, sources: Sequence[str], data: Path, without_fold: int | None = None) -> Encoder:
    """The encoder of adapted weights with projections fitted on the train parts of some sources; kept in runs/."""
    from safetensors.numpy import load_file, save_file

    from scripts.make_encoder import adapted, drawn, encoder_of, projected

    kept = path.with_name(f"{path.stem}-projected.safetensors")
    if not kept.is_file() or kept.stat().st_mtime < path.stat().st_mtime:
        layers = projected(adapted(path)[0], drawn(tuple(sources), data, without_fold, PER_CLASS))
        save_file({name: np.ascontiguousarray(array) for name, array in layers.items()}, kept)
    return encoder_of(load_file(kept))
