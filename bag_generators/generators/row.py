"""Row: one instance per row of the colour grid, compared with the rows above and below (8×9)."""

from functools import lru_cache
from itertools import pairwise

import numpy as np

from bag_generators.generators.grid import CELLS, colour_grid
from bag_generators.regions import BoxRegions, edges

_COLOURS = ("red", "green", "blue")
FEATURE_NAMES = (
    *_COLOURS,
    *(f"{colour}, difference to the row above" for colour in _COLOURS),
    *(f"{colour}, difference to the row below" for colour in _COLOURS),
)


def _comparisons() -> np.ndarray:
    """(24, 8): per row itself, itself less the row above, itself less the row below; the edges wrap around."""
    own = np.eye(CELLS)
    above, below = np.roll(own, -1, axis=1), np.roll(own, 1, axis=1)
    return np.stack([own, own - above, own - below], axis=1).reshape(-1, CELLS)


_COMPARISONS = _comparisons()


def row(working: np.ndarray, shape: tuple[int, int]) -> tuple[np.ndarray, BoxRegions]:
    """Row bag of a 224×224 working copy: features (8, 9) and full-width bands, top to bottom.

    With R_i the mean RGB of grid row i: R_i, R_i − R_{i−1}, R_i − R_{i+1}. The first and the last row are
    neighbours.
    """
    rows = colour_grid(working).mean(axis=1)  # (8, 3)
    return (_COMPARISONS @ rows).reshape(CELLS, 9).astype(np.float32), _regions(shape)


@lru_cache(maxsize=64)
def _regions(shape: tuple[int, int]) -> BoxRegions:
    height, width = shape
    y = edges(CELLS, height)
    return BoxRegions([(0, top, width, bottom) for top, bottom in pairwise(y)], shape)
