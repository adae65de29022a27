"""How large a pixel is, by the size of the nuclei in the picture: an estimate with an interval, or nothing.

Haematoxylin darkens red light and eosin hardly does, so nuclei are dark blobs of the red channel. The determinant of
the Hessian in scale space finds blobs and their sizes. Those that stand out most are nuclei nearly everywhere in
tissue; their median size is compared with that of nuclei in pictures of known scale.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import cv2
import numpy as np

from bag_generators.tissue.stain import DENSITY

FEWEST_NUCLEI = 5
_SIZES = 1.1 * 2.0 ** (np.arange(19) / 4)
"""Standard deviations of the Gaussians, px: nuclei at 0.1 to 2 µm per pixel."""
_OF_A_PIXEL = 0.7
"""By how much a pixel's own size enlarges the square of a blob's, px²."""
_COARSE_FROM = 4.0
"""From this size on a blob is looked for in a picture of half as many pixels along each side."""
_WINDOW, _MOST_PIXELS = 320, 320_000
_MOST_CANDIDATES, _MOST_BLOBS = 4000, 500
_FAINTEST = 0.03  # of optical density
_STRONGEST, _NUCLEUS_FROM = 0.005, 0.7
"""Blobs count as nuclei if they are at least this strong, compared with the weakest of the strongest ones that
together cover this share of the picture."""
_SECOND = np.array([[1, -2, 1]], np.float32)
_MIXED = np.array([[0.25, 0, -0.25], [0, 0, 0], [-0.25, 0, 0.25]], np.float32)
_NEIGHBOURS = np.ones((3, 3), np.uint8)
_CENTRE = (0.9839, -0.4702, 0.0175, 0.5247, 0.1792)
_WIDTH = (-1.5449, 0.5925, 0.6751, -0.3801, -0.1944)
"""`scripts/measure_scale.py --fit` computes both."""


class ScaleEstimate(NamedTuple):
    """Micrometres per pixel with an interval that holds the truth in nine of ten pictures like those measured."""

    microns_per_pixel: float
    low: float
    high: float
    nuclei: int


class Nuclei(NamedTuple):
    """What is measured of the nuclei of a picture; all but the size are the same at every scale.

    Quantiles are by area. The count is no sign: in tiles of one size it would betray the scale.
    """

    log_size: float
    """Of the median nucleus: the logarithm of the Gaussian's standard deviation in px."""
    signs: tuple[float, ...]
    """What the estimate and its interval are computed from beside the size: 1; by how much the upper and the lower
    quartile and the median by count differ from the median, as logarithms; the logarithm of the share they cover."""
    number: int


def estimate_scale(pixels: np.ndarray) -> ScaleEstimate | None:
    """The scale of a picture of stained tissue, (h, w, 3) uint8; None where there are too few nuclei to tell."""
    nuclei = measure_nuclei(pixels)
    if nuclei is None:
        return None
    centre = float(np.dot(_CENTRE, nuclei.signs)) - nuclei.log_size
    width = math.exp(min(1.0, float(np.dot(_WIDTH, nuclei.signs))))
    return ScaleEstimate(math.exp(centre), math.exp(centre - width), math.exp(centre + width), nuclei.number)


def measure_nuclei(pixels: np.ndarray) -> Nuclei | None:
    """The sizes of the nuclei; None where there are too few. Of a large picture three windows are read."""
    windows = [cv2.LUT(np.ascontiguousarray(window[..., 0]), DENSITY) for window in _windows(pixels)]
    squares = np.concatenate([_squared_sizes(window) for window in windows])
    if len(squares) < FEWEST_NUCLEI:
        return None
    squares = np.sort(squares)
    sizes = np.log(squares - _OF_A_PIXEL) / 2
    ranks = (np.cumsum(squares) - squares / 2) / squares.sum()
    lower, middle, upper = (float(one) for one in np.interp([0.25, 0.5, 0.75], ranks, sizes))
    cover = math.log(2 * math.pi * squares.sum() / sum(window.size for window in windows))
    signs = 1.0, upper - middle, middle - lower, middle - float(np.median(sizes)), cover
    return Nuclei(middle, signs, len(sizes))


def _windows(pixels: np.ndarray) -> Iterator[np.ndarray]:
    """The picture, or of a large one some windows, fixed by the picture: of those with much haematoxylin, not only
    the darkest, which may be a fold or ink."""
    height, width = pixels.shape[:2]
    if height * width <= _MOST_PIXELS:
        yield pixels
        return
    side = min(_WINDOW, height, width)
    corners = list(
        product(*(np.linspace(0, length - side, min(24, length // side)).astype(int) for length in (height, width)))
    )
    red = [pixels[y : y + side : 8, x : x + side : 8, 0] for y, x in corners]
    dark = np.array([(one < 255 * math.exp(-0.5)).mean() for one in red])
    order = np.argsort(-dark, kind="stable")
    most = max(1, _MOST_PIXELS // side**2)
    for place in np.unique(np.linspace(0, (len(order) - 1) * 0.6, min(most, len(order))).round().astype(int)):
        y, x = corners[order[place]]
        yield pixels[y : y + side, x : x + side]


def _squared_sizes(density: np.ndarray) -> np.ndarray:
    """The squares of the sizes of those dark blobs that stand out most and don't overlap, (n,) in px²."""
    height, width = density.shape
    candidates = _candidates(density)
    kept: list[np.ndarray] = []
    covered, least = 0.0, 0.0
    while len(candidates) and len(kept) < _MOST_BLOBS and candidates[0, 3] >= least:
        first = candidates[0]
        kept.append(first)
        covered += 2 * math.pi * first[2] ** 2
        if least == 0 and len(kept) >= 3 and covered >= _STRONGEST * density.size:
            least = _NUCLEUS_FROM * first[3]
        apart = np.square(candidates[:, :2] - first[:2]).sum(axis=1)
        candidates = candidates[apart > 1.62 * np.square(np.maximum(candidates[:, 2], first[2]))]
    y, x, sizes, _ = np.array(kept).reshape(-1, 4).T
    whole = (np.minimum(y, x) > sizes) & (y < height - sizes) & (x < width - sizes)
    whole &= (sizes > _SIZES[0]) & (sizes < _SIZES[-1])  # the size of the others lies beyond
    return np.square(sizes[whole])


def _candidates(density: np.ndarray) -> np.ndarray:
    """Peaks of every size, the strongest first: (n, 4) with y, x, size and strength."""
    height, width = density.shape
    found, level, shrunk, blurred = [np.empty((0, 4))], density, 1, 0.0
    for size in _SIZES:
        while size / shrunk > _COARSE_FROM and min(level.shape) >= 32:
            level, blurred = cv2.pyrDown(level), math.hypot(blurred, shrunk)
            shrunk *= 2
        here = size / shrunk
        strength = _blob_strength(level, here, math.sqrt(max(0.09, here**2 - (blurred / shrunk) ** 2)))
        rows, columns = np.nonzero((strength >= cv2.dilate(strength, _NEIGHBOURS)) & (strength > _FAINTEST**2))
        y, x = (rows + 0.5) * height / level.shape[0], (columns + 0.5) * width / level.shape[1]
        found.append(np.column_stack([y, x, np.full(len(y), size), np.sqrt(strength[rows, columns])]))
    candidates = np.concatenate(found)
    return candidates[np.argsort(-candidates[:, 3], kind="stable")[:_MOST_CANDIDATES]]


def _blob_strength(level: np.ndarray, size: float, blur: float) -> np.ndarray:
    """The determinant of the Hessian where it curves downwards, else 0, the same for blobs of every size."""
    smooth = cv2.GaussianBlur(level, (0, 0), blur, borderType=cv2.BORDER_REFLECT)
    across = cv2.filter2D(smooth, -1, _SECOND, borderType=cv2.BORDER_REFLECT)
    down = cv2.filter2D(smooth, -1, _SECOND.T, borderType=cv2.BORDER_REFLECT)
    mixed = cv2.filter2D(smooth, -1, _MIXED, borderType=cv2.BORDER_REFLECT)
    determinant = (across * down - mixed * mixed) * np.float32(size**4)
    determinant[across > 0] = 0
    return determinant
