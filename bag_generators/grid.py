"""The 8×8 colour grid that Row and SBN share: blur 5×5, then the mean colour of each of 8×8 cells.

Blurring and averaging are both linear and separable, so together they are one small matrix on either side of
the picture. OpenCV's 5×5 Gaussian for sigma 0 (that is 1.1) has the weights 1 4 6 4 1, so everything stays in
whole numbers until the last division: no rounding, and the same result on any number of threads.
"""

import numpy as np

from bag_generators.working import SIDE

CELLS = 8
_KERNEL = (1, 4, 6, 4, 1)
_CELL = SIDE // CELLS


def _blur_and_sum() -> np.ndarray:
    """(8, 224): how much pixel y counts in cell i, in 1/16 pixels, mirrored at the border (reflect-101)."""
    weights = np.zeros((CELLS, SIDE))
    for y in range(SIDE):
        for offset, weight in zip(range(-2, 3), _KERNEL, strict=True):
            source = abs(y + offset)
            source = min(source, 2 * (SIDE - 1) - source)
            weights[y // _CELL, source] += weight
    return weights


_WEIGHTS = _blur_and_sum()
_WEIGHTS_32 = _WEIGHTS.astype(np.float32)
_SCALE = 1.0 / (_CELL * sum(_KERNEL)) ** 2


def colour_grid(working: np.ndarray) -> np.ndarray:
    """Mean RGB 0..255 of the blurred 224×224 picture in 8×8 cells: (8, 8, 3) float64."""
    # Row sums stay below 2^24 and so are exact in float32; the second product is exact in float64.
    bands = _WEIGHTS_32 @ working.reshape(SIDE, SIDE * 3).astype(np.float32)  # (8, 224 · 3)
    return np.asarray(_WEIGHTS @ bands.reshape(CELLS, SIDE, 3).astype(np.float64)) * _SCALE
