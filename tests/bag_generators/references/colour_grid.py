"""Row and SBN written out literally: blur, average, then one feature after the other."""

import cv2
import numpy as np


def colour_grid(pixels: np.ndarray) -> np.ndarray:
    """(8, 8, 3) mean colours of a 224×224 picture after OpenCV's own 5×5 blur, without rounding in between."""
    blurred = cv2.GaussianBlur(pixels.astype(np.float64), (5, 5), 0, borderType=cv2.BORDER_REFLECT_101)
    grid = np.zeros((8, 8, 3))
    for i in range(8):
        for j in range(8):
            for channel in range(3):
                grid[i, j, channel] = blurred[28 * i : 28 * (i + 1), 28 * j : 28 * (j + 1), channel].mean()
    return grid


def row(pixels: np.ndarray) -> np.ndarray:
    grid = colour_grid(pixels)
    rows = [sum(grid[i, j] for j in range(8)) / 8 for i in range(8)]
    features = np.zeros((8, 9))
    for i in range(8):
        above, below = rows[i - 1 if i > 0 else 7], rows[i + 1 if i < 7 else 0]
        for channel in range(3):
            features[i, channel] = rows[i][channel]
            features[i, 3 + channel] = rows[i][channel] - above[channel]
            features[i, 6 + channel] = rows[i][channel] - below[channel]
    return features


def sbn(pixels: np.ndarray) -> np.ndarray:
    grid = colour_grid(pixels)

    def blob(a: int, b: int) -> np.ndarray:
        return (grid[a, b] + grid[a, b + 1] + grid[a + 1, b] + grid[a + 1, b + 1]) / 4

    instances = []
    for a in (2, 3, 4):
        for b in (2, 3, 4):
            own = blob(a, b)
            left, right, up, down = blob(a, b - 2), blob(a, b + 2), blob(a - 2, b), blob(a + 2, b)
            instances.append([*own, *(left - own), *(right - own), *(up - own), *(down - own)])
    return np.array(instances)
