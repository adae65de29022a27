"""SBN, single blob with neighbours: a 2×2 blob of the colour grid and its four neighbours (9×15)."""

import numpy as np

from bag_generators.grid import CELLS, colour_grid
from bag_generators.regions import BoxRegions, edges

_COLOURS = ("red", "green", "blue")
FEATURE_NAMES = (
    *_COLOURS,
    *(
        f"{colour}, {side} neighbour minus centre"
        for side in ("left", "right", "upper", "lower")
        for colour in _COLOURS
    ),
)
_CENTRES = np.array([(a, b) for a in (2, 3, 4) for b in (2, 3, 4)])  # (row, column), row-major
_OFFSETS = np.array([(0, 0), (0, -2), (0, 2), (-2, 0), (2, 0)])  # centre, left, right, up, down
_ROWS, _COLUMNS = np.moveaxis(_CENTRES[:, None] + _OFFSETS[None], -1, 0)  # (9, 5) each


def sbn(working: np.ndarray, shape: tuple[int, int]) -> tuple[np.ndarray, BoxRegions]:
    """SBN bag of a 224×224 working copy: features (9, 15) and the boxes of the centre blobs, row-major.

    With blob(a, b) the mean RGB of the cells [a..a+1, b..b+1] and B0 the centre blob: B0, then
    blob(a, b−2) − B0, blob(a, b+2) − B0, blob(a−2, b) − B0, blob(a+2, b) − B0 for a, b ∈ {2, 3, 4}.
    """
    grid = colour_grid(working)
    pairs = grid[:-1] + grid[1:]
    blobs = (pairs[:, :-1] + pairs[:, 1:]) / 4  # (7, 7, 3)
    features = blobs[_ROWS, _COLUMNS]  # (9, 5, 3)
    features[:, 1:] -= features[:, :1]
    return features.reshape(9, 15).astype(np.float32), BoxRegions(_boxes(shape), shape)


def _boxes(shape: tuple[int, int]) -> np.ndarray:
    y, x = (edges(CELLS, length) for length in shape)
    a, b = _CENTRES.T
    return np.column_stack([x[b], y[a], x[b + 2], y[a + 2]])
