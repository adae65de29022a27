"""SIFT: a fixed 5×5 grid of upright SIFT descriptors (25×128).

The grid never moves, and both the Gaussian window and the sharing between cells are products of a function of
y and a function of x. So all descriptors together are eight orientation maps with one small matrix on either
side.
"""

import cv2
import numpy as np

from bag_generators.regions import BoxRegions, edges
from bag_generators.working import SIDE

POINTS = (32, 72, 112, 152, 192)
"""Key points along each side of the working copy, px."""
CELL = 16
"""Side of one of a descriptor's 4×4 cells, px."""
_CELLS = 4
_ORIENTATIONS = 8
# Lowe describes at scale 1.6 and takes a camera's picture to have a blur of .5 already.
_BLUR = (1.6**2 - 0.5**2) ** 0.5
_CLIP = 0.2

FEATURE_NAMES = tuple(
    f"cell {row + 1}·{column + 1}, brighter towards {direction}"
    for row in range(_CELLS)
    for column in range(_CELLS)
    for direction in (
        "the right", "the upper right", "the top", "the upper left",
        "the left", "the lower left", "the bottom", "the lower right",
    )
)  # fmt: skip


def sift(working: np.ndarray, shape: tuple[int, int]) -> tuple[np.ndarray, BoxRegions]:
    """SIFT bag of a 224×224 working copy: descriptors (25, 128) of length 1 and 5×5 cells, row-major.

    Lowe's descriptor with 4×4 cells of 16 px and 8 orientations: Gaussian window of sigma two cells, trilinear
    sharing, normalised, clipped at .2, normalised again. Without any gradient it is all zeros.
    """
    maps = orientation_maps(cv2.cvtColor(working, cv2.COLOR_RGB2GRAY))  # (8, 224, 224)
    sums = _WINDOWS @ maps @ _WINDOWS.T  # (8, 20, 20)
    points = len(POINTS)
    parts = sums.reshape(_ORIENTATIONS, points, _CELLS, points, _CELLS).transpose(1, 3, 2, 4, 0)
    descriptors = _unit(np.minimum(_unit(parts.reshape(points**2, -1)), _CLIP))
    return descriptors.astype(np.float32), BoxRegions(_cells(shape), shape)


def orientation_maps(grey: np.ndarray) -> np.ndarray:
    """Gradient strength in each of 8 directions, (8, 224, 224) float32, shared between the two nearest ones.

    Direction o is o · 45° anticlockwise from "brighter to the right". The outermost pixels have no gradient.
    """
    blurred = cv2.GaussianBlur(grey.astype(np.float32), (0, 0), _BLUR)
    dx, dy = np.zeros_like(blurred), np.zeros_like(blurred)
    dx[1:-1, 1:-1] = blurred[1:-1, 2:] - blurred[1:-1, :-2]
    dy[1:-1, 1:-1] = blurred[:-2, 1:-1] - blurred[2:, 1:-1]
    strength = np.hypot(dx, dy)
    turn = np.arctan2(dy, dx) * np.float32(_ORIENTATIONS / (2 * np.pi))
    maps = np.empty((_ORIENTATIONS, SIDE, SIDE), dtype=np.float32)
    for o in range(_ORIENTATIONS):
        away = np.abs((turn - o + 4) % _ORIENTATIONS - 4)
        maps[o] = strength * np.maximum(0, 1 - away)
    return maps


def _windows() -> np.ndarray:
    """(20, 224): weight of each pixel line for each cell of each key point: Gaussian window × linear sharing."""
    from_point = (np.arange(SIDE) - np.array(POINTS)[:, None]) / CELL  # (5, 224), in cells
    to_cell = from_point[:, None] - (np.arange(_CELLS) - (_CELLS - 1) / 2)[:, None]  # (5, 4, 224)
    window = np.exp(-np.square(from_point) / (0.5 * _CELLS**2))
    weights = window[:, None] * np.maximum(0, 1 - np.abs(to_cell))
    return weights.reshape(-1, SIDE).astype(np.float32)


_WINDOWS = _windows()


def _unit(rows: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)


def _cells(shape: tuple[int, int]) -> np.ndarray:
    y, x = (edges(len(POINTS), length) for length in shape)
    a, b = np.indices((len(POINTS), len(POINTS))).reshape(2, -1)
    return np.column_stack([x[b], y[a], x[b + 1], y[a + 1]])
