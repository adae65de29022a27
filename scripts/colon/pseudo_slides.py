"""Which training tiles look as if they came from the same slide, for a validation that other slides resemble.

The lesion tiles carry no slide numbers, and a random split puts neighbours of one slide on both sides. Tiles of one
class with the same stain are taken for one slide: k-means on the stain's statistics, class by class.
"""

from pathlib import Path

import cv2
import numpy as np
from sklearn.cluster import KMeans

from bag_generators import load
from bag_generators.tissue.stain import DENSITY

SLIDES_PER_CLASS = 6
_GLASS = 0.15  # optical density
_FEWEST_TISSUE_PIXELS = 200


def stain_statistics(path: Path) -> np.ndarray:
    """What a slide gives all its tiles, (14,): hues of its tissue, colour of its glass, density and grain."""
    pixels = load(path).pixels
    density = cv2.LUT(pixels, DENSITY)[::2, ::2].reshape(-1, 3)
    tissue = density[density.mean(axis=1) > _GLASS]
    if len(tissue) < _FEWEST_TISSUE_PIXELS:
        tissue = density
    strength = np.linalg.norm(tissue, axis=1, keepdims=True)
    hue = tissue / np.maximum(strength, 1e-6)
    red, blue = hue[:, 0] - hue[:, 1], hue[:, 2] - hue[:, 1]
    quantiles = (10, 50, 90)
    grain = np.log(cv2.Laplacian(cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY), cv2.CV_32F).std() + 1)
    return np.concatenate(
        [
            np.percentile(red, quantiles),
            np.percentile(blue, quantiles),
            np.percentile(pixels.reshape(-1, 3), 99.5, axis=0) / 255,
            np.percentile(strength, (25, 50, 75, 95)),
            [grain],
        ]
    )


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
