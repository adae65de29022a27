"""Lowe's descriptor written out literally: every pixel of the window into every cell and direction it touches."""

import math

import numpy as np
from scipy.ndimage import gaussian_filter1d


def sift(grey: np.ndarray) -> np.ndarray:
    """(25, 128) upright descriptors of a 224×224 grey picture at the key points 32, 72, 112, 152, 192."""
    smooth = grey.astype(np.float64)
    for axis in (0, 1):
        smooth = gaussian_filter1d(smooth, math.sqrt(1.6**2 - 0.5**2), axis=axis, radius=6, mode="mirror")
    centres = (32, 72, 112, 152, 192)
    return np.array([descriptor(smooth, x, y) for y in centres for x in centres])


def descriptor(smooth: np.ndarray, cx: int, cy: int, cell: int = 16) -> np.ndarray:
    histogram = np.zeros((4, 4, 8))
    lines = smooth.tolist()
    for y in range(max(1, cy - 40), min(len(lines) - 1, cy + 41)):
        for x in range(max(1, cx - 40), min(len(lines[0]) - 1, cx + 41)):
            dx = lines[y][x + 1] - lines[y][x - 1]
            dy = lines[y - 1][x] - lines[y + 1][x]  # upwards
            v, u = (y - cy) / cell, (x - cx) / cell  # in cells, from the key point
            weight = math.hypot(dx, dy) * math.exp(-(u * u + v * v) / (2 * 2**2))
            share(histogram, v + 1.5, u + 1.5, math.atan2(dy, dx) / (2 * math.pi) * 8, weight)
    vector = histogram.ravel()
    length = np.linalg.norm(vector)
    if length < 0.05:
        return np.zeros(128)
    vector = np.minimum(vector / length, 0.2)
    return vector / np.linalg.norm(vector)


def share(histogram: np.ndarray, row: float, column: float, direction: float, weight: float) -> None:
    """Trilinear: the eight bins around (row, column, direction) get their part of `weight`."""
    r0, c0, o0 = math.floor(row), math.floor(column), math.floor(direction)
    for r, row_part in ((r0, r0 + 1 - row), (r0 + 1, row - r0)):
        for c, column_part in ((c0, c0 + 1 - column), (c0 + 1, column - c0)):
            if 0 <= r < 4 and 0 <= c < 4:
                histogram[r, c, o0 % 8] += weight * row_part * column_part * (o0 + 1 - direction)
                histogram[r, c, (o0 + 1) % 8] += weight * row_part * column_part * (direction - o0)
