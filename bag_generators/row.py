"""Row: one instance per row of the colour grid, compared with the rows above and below (8×9)."""

import numpy as np

from bag_generators.grid import CELLS, colour_grid
from bag_generators.regions import BoxRegions, edges

_COLOURS = ("red", "green", "blue")
FEATURE_NAMES = (
    *_COLOURS,
    *(f"{colour}, difference to the row above" for colour in _COLOURS),
    *(f"{colour}, difference to the row below" for colour in _COLOURS),
)


def row(working: np.ndarray, shape: tuple[int, int]) -> tuple[np.ndarray, BoxRegions]:
    """Row bag of a 224×224 working copy: features (8, 9) and full-width bands, top to bottom.

    With R_i the mean RGB of grid row i: R_i, R_i − R_{i−1}, R_i − R_{i+1}. The first and the last row are
    neighbours.
    """
    rows = colour_grid(working).mean(axis=1)  # (8, 3)
    features = np.hstack([rows, rows - np.roll(rows, 1, axis=0), rows - np.roll(rows, -1, axis=0)])
    return features.astype(np.float32), BoxRegions(_bands(shape), shape)


def _bands(shape: tuple[int, int]) -> np.ndarray:
    height, width = shape
    y = edges(CELLS, height)
    return np.column_stack([np.zeros_like(y[:-1]), y[:-1], np.full_like(y[:-1], width), y[1:]])
