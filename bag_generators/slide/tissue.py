"""Which tiles of a slide show tissue to judge: bare glass, pen marks, folds and blur are left out, each counted.

The first three are seen on a small copy of the slide, 8×8 pixels of it for a tile; blur needs the tile itself. The
limits lie outside what 128 colorectal tiles of seven tissues and 200 of lesions have, measured in the same way.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import cv2
import numpy as np

from bag_generators.base.errors import InputError
from bag_generators.tissue.stain import DENSITY

TISSUE, BACKGROUND, PEN, FOLD, BLUR = range(5)
LEFT_OUT = {BACKGROUND: "background", PEN: "pen", FOLD: "fold", BLUR: "blur"}
"""Why a tile is left out, in words."""

MOST_TILES = 4_000_000
_SAMPLES = 8
"""Pixels of the small copy along a side of a tile."""
_GLASS = 0.15
"""Optical density in every channel, beside the slide's own white."""
_LEAST_TISSUE = 0.25
"""Share of a tile that is not bare glass."""
_MOST_PEN = 0.25
_MOST_FOLD = 0.5
_FOLD_DENSITY, _FOLD_TIMES = 1.1, 2.0
"""Tissue that lies twice is at least this dense, and twice as dense as the slide's typical tissue."""
_BLURRED_RATIO, _BLURRED_DETAIL = 0.38, 5.0


@dataclass(frozen=True, eq=False)
class TissueGrid:
    """The tiles of a slide, row by row; `state` says of each whether it is TISSUE or why not."""

    width: int
    height: int
    step: float
    """Pixels of level 0 along a side of a tile."""
    state: np.ndarray  # (rows, columns) uint8

    @property
    def rows(self) -> int:
        return int(self.state.shape[0])

    @property
    def columns(self) -> int:
        return int(self.state.shape[1])

    @property
    def is_tissue(self) -> np.ndarray:
        """(rows, columns) bool."""
        return np.asarray(self.state == TISSUE)

    @cached_property
    def x_edges(self) -> np.ndarray:
        """Where columns begin and end, (columns + 1,) whole pixels of level 0; the last column may be narrower."""
        return edges(self.width, self.step)

    @cached_property
    def y_edges(self) -> np.ndarray:
        """Where rows begin and end, (rows + 1,) whole pixels of level 0."""
        return edges(self.height, self.step)

    def corner(self, row: int, column: int) -> tuple[int, int]:
        """Upper left corner (x, y) of the tile to read: those at the far edges reach back to lie inside the slide."""
        side = math.ceil(self.step)
        x, y = int(self.x_edges[column]), int(self.y_edges[row])
        return max(0, min(x, self.width - side)), max(0, min(y, self.height - side))


def edges(length: int, step: float) -> np.ndarray:
    """0, step, 2·step, … as whole pixels, and `length` as the last; a remainder below a pixel is no part of its own.

    >>> edges(1000, 448.0).tolist(), edges(896, 448.0).tolist()
    ([0, 448, 896, 1000], [0, 448, 896])
    """
    parts = max(1, math.ceil(length / step - 1 / step))
    return np.array([*np.rint(np.arange(parts) * step).astype(int), length])


def find_tissue(overview: Callable[[float], np.ndarray], size: tuple[int, int], step: float) -> TissueGrid:
    """The grid of tiles of `step` pixels of level 0 over a slide of `size` (width, height).

    `overview` gives the whole slide at so many of its pixels for one.
    """
    columns, rows = (len(edges(length, step)) - 1 for length in size)
    if columns * rows > MOST_TILES:
        raise InputError(f"The slide would have {columns * rows:,} tiles.", "Check its scale in µm per pixel.")
    copy = overview(step / _SAMPLES)
    wanted = (rows * _SAMPLES, columns * _SAMPLES)
    missing = [(0, max(0, have - got)) for have, got in zip(wanted, copy.shape, strict=False)]
    copy = np.pad(copy[: wanted[0], : wanted[1]], [*missing, (0, 0)], mode="edge")
    glass, pen, fold = _pixels_of(copy)

    def share(mask: np.ndarray) -> np.ndarray:
        return np.asarray(mask.reshape(rows, _SAMPLES, columns, _SAMPLES).mean(axis=(1, 3)))

    state = np.full((rows, columns), TISSUE, np.uint8)
    state[share(~glass) < _LEAST_TISSUE] = BACKGROUND
    state[share(fold) > _MOST_FOLD] = FOLD
    state[share(pen) > _MOST_PEN] = PEN
    return TissueGrid(*size, step, state)


def is_blurred(tile: np.ndarray) -> bool:
    """Whether a tile (H, W, 3) at the model's scale is out of focus.

    Blur takes away fine detail before coarse: the differences between neighbours are compared with those on a copy of
    half the size. Where there is hardly any of both, noise is all that is left of them.
    """
    grey = cv2.cvtColor(tile, cv2.COLOR_RGB2GRAY).astype(np.float32)
    half = cv2.resize(grey, (grey.shape[1] // 2, grey.shape[0] // 2), interpolation=cv2.INTER_AREA)
    fine, coarse = (float(np.sqrt(np.square(cv2.Laplacian(one, cv2.CV_32F)).mean())) for one in (grey, half))
    return fine < _BLURRED_DETAIL or fine / (coarse + 1) < _BLURRED_RATIO


def _pixels_of(copy: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Which pixels of the small copy are bare glass, pen and fold, each (H, W) bool."""
    red, green, blue = (channel.astype(np.int16) for channel in cv2.split(copy))
    brightest, faintest = copy.max(axis=2), copy.min(axis=2)
    colour = brightest.astype(np.int16) - faintest
    density = cv2.LUT(copy, DENSITY) - DENSITY[_white(copy[(colour < 10) & (faintest > 180)], colour.size)]
    glass = (density.max(axis=2) < _GLASS) | (brightest < 10)  # what a scanner left black is no tissue either
    # Haematoxylin and eosin both take green away first. Inks that leave it, or leave nothing but red, are none of them.
    inks = (green > red + 10) | ((brightest < 90) & (colour < 20)) | ((red - green > 100) & (np.abs(blue - green) < 20))
    pen = inks & ~glass
    mean = density.mean(axis=2)
    tissue = mean[~glass & ~pen]
    limit = max(_FOLD_DENSITY, _FOLD_TIMES * float(np.median(tissue))) if tissue.size else math.inf
    return glass, pen, (mean > limit) & ~pen


def _white(bright: np.ndarray, pixels: int) -> np.ndarray:
    """The colour of bare glass, (3,) uint8, from the bright colourless pixels (n, 3), if there are enough of all."""
    if len(bright) < max(16, pixels // 100):
        return np.array([255, 255, 255], np.uint8)
    return np.percentile(bright, 90, axis=0).astype(np.uint8)
