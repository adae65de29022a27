"""A slide map made by hand."""

import numpy as np

from bag_generators.slide.tissue import BACKGROUND, TISSUE, TissueGrid
from elimipl.candidates.labels import TISSUE7
from elimipl.slides import SlideMap
from elimipl.slides.slide_map import About

PARTS = 4


def small_map(classes: np.ndarray, step: float, width: int, height: int, attention: np.ndarray) -> SlideMap:
    """Tiles of these classes (−1: left out), each .88 probable; `attention` is one number for each tile."""
    probabilities = np.full((*classes.shape, 7), 0.02, np.float32)
    np.put_along_axis(probabilities, np.maximum(classes, 0)[:, :, None], 0.88, axis=2)
    probabilities[classes < 0] = 0
    about = About(
        slide="slide.tif",
        slide_sha256="0" * 64,
        width=width,
        height=height,
        microns_per_pixel=0.5,
        model="tissue7-deep-elimipl",
        model_sha256="1" * 64,
        generator="deep",
        label_space=TISSUE7,
        step=step,
        field_side=3,
        made="2026-01-01T00:00:00+00:00",
    )
    state = np.where(classes < 0, BACKGROUND, TISSUE).astype(np.uint8)
    fine = np.kron(np.where(classes < 0, 0, attention), np.ones((PARTS, PARTS))).astype(np.float32)
    return SlideMap(about, TissueGrid(width, height, step, state), probabilities, probabilities, fine)
