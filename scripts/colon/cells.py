"""Pictures as cells: what an encoder reads of every picture of a source, computed once and kept in runs/."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import cv2
import numpy as np
from tqdm import tqdm

from bag_generators.generators.deep import grid_of
from bag_generators.generators.encoder import Encoder
from bag_generators.tissue.augment import augmented
from elimipl.data.colon import SOURCES
from elimipl.labels import COLON
from scripts.colon.sources import ROOT, Picture

PER_CLASS = 16  # pictures that the projection of an encoder which does not ship is fitted on
KEPT = ROOT / "runs" / "cells"


@dataclass(frozen=True, eq=False)
class Cells:
    """Some pictures as an encoder reads them."""

    pictures: Sequence[Picture]
    features: list[np.ndarray]  # (n, 256) float16 each, row by row
    grids: list[tuple[int, int]]

    def __len__(self) -> int:
        return len(self.pictures)

    def subset(self, chosen: Sequence[int] | np.ndarray) -> Cells:
        """Those at some positions."""
        return Cells(
            [self.pictures[i] for i in chosen], [self.features[i] for i in chosen], [self.grids[i] for i in chosen]
        )

    @cached_property
    def meant(self) -> np.ndarray:
        """(m, 12) bool: the classes of the colon that the source's label may mean."""
        return np.stack([meaning(p) for p in self.pictures])

    def glands(self) -> list[np.ndarray]:
        """Share of each cell that the mask calls gland, (n,) each."""
        return [gland_share(p, grid) for p, grid in zip(self.pictures, self.grids, strict=True)]


def meaning(picture: Picture) -> np.ndarray:
    """(12,) bool: what the label of a picture's source may mean."""
    named = SOURCES[picture.source][picture.label]
    return np.array([name in named for name in COLON.names])


def gland_share(picture: Picture, grid: tuple[int, int]) -> np.ndarray:
    """What share of every cell is gland by the mask, (rows · columns,)."""
    mask = cv2.imread(str(picture.mask), cv2.IMREAD_GRAYSCALE)
    return cv2.resize((mask > 127).astype(np.float32), grid[::-1], interpolation=cv2.INTER_AREA).ravel()


def read_cells(encoder: Encoder, pictures: Sequence[Picture], copies: int = 0) -> Cells:
    """The cells of every picture, then of `copies` augmented copies of each; kept by encoder and pictures."""
    named = ",".join(f"{p.source}/{p.path.name}" for p in pictures)
    key = hashlib.sha256(f"{fingerprint(encoder)} {copies} {named}".encode()).hexdigest()[:16]
    kept = KEPT / f"{key}.npz"
    shown = [p for _ in range(copies + 1) for p in pictures]
    if kept.is_file():
        with np.load(kept) as file:
            grids = [(int(r), int(c)) for r, c in file["grids"]]
            ends = np.cumsum([r * c for r, c in grids])[:-1]
            return Cells(shown, np.split(file["features"], ends), grids)
    features, grids = [], []
    for i, picture in enumerate(tqdm(shown, desc=f"cells of {pictures[0].source}", leave=False, mininterval=10)):
        pixels = picture.pixels()
        if i >= len(pictures):
            pixels = augmented(pixels, np.random.default_rng((i, 20241)))
        grid = grid_of(*pixels.shape[:2])
        features.append(encoder.cells(pixels, grid).astype(np.float16))
        grids.append(grid)
    KEPT.mkdir(parents=True, exist_ok=True)
    np.savez(kept, features=np.concatenate(features), grids=np.array(grids))
    return Cells(shown, features, grids)


def fingerprint(encoder: Encoder) -> str:
    """What tells encoders apart: weights and projections."""
    pixels = np.random.default_rng(0).integers(0, 256, (70, 70, 3)).astype(np.uint8)
    return hashlib.sha256(encoder.cells(pixels, (5, 5)).round(3).tobytes()).hexdigest()


def encoder_from(path: Path, sources: Sequence[str], data: Path, without_fold: int | None = None) -> Encoder:
    """The encoder of adapted weights with projections fitted on the train parts of some sources; kept in runs/."""
    from safetensors.numpy import load_file, save_file

    from scripts.make_encoder import adapted, drawn, encoder_of, projected

    kept = path.with_name(f"{path.stem}-projected.safetensors")
    if not kept.is_file() or kept.stat().st_mtime < path.stat().st_mtime:
        layers = projected(adapted(path)[0], drawn(tuple(sources), data, without_fold, PER_CLASS))
        save_file({name: np.ascontiguousarray(array) for name, array in layers.items()}, kept)
    return encoder_of(load_file(kept))
