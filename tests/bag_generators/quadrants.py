"""A fifth generator as somebody else might write it: the mean colour of the picture's four quarters."""

import numpy as np

from bag_generators.generator import Generator
from bag_generators.regions import BoxRegions, edges


def quadrants(pixels: np.ndarray, shape: tuple[int, int], gain: float = 1.0) -> tuple[np.ndarray, BoxRegions]:
    """Mean red, green, blue of the upper left, upper right, lower left and lower right quarter: (4, 3)."""
    (top, middle, bottom), (left, centre, right) = (edges(2, length) for length in pixels.shape[:2])
    rows, columns = ((top, middle), (middle, bottom)), ((left, centre), (centre, right))
    features = [pixels[y0:y1, x0:x1].mean(axis=(0, 1)) * gain for y0, y1 in rows for x0, x1 in columns]
    (y0, y1, y2), (x0, x1, x2) = (edges(2, length) for length in shape)
    boxes = [(x0, y0, x1, y1), (x1, y0, x2, y1), (x0, y1, x1, y2), (x1, y1, x2, y2)]
    return np.array(features), BoxRegions(boxes, shape)


GENERATOR = Generator(
    "quadrants",
    "Quadrants",
    "The mean colour of four quarters.",
    ("red", "green", "blue"),
    quadrants,
    {"gain": 1.0},
)
