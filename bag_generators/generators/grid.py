"""The 8×8 colour grid that Row and SBN share (blur 5×5, then the mean colour of each of 8×8 cells), and its words.

Blurring and averaging are both linear and separable, so together they are one small matrix on either side of
the picture. OpenCV's 5×5 Gaussian for sigma 0 (that is 1.1) has the weights 1 4 6 4 1, so everything stays in
whole numbers until the last division: no rounding, and the same result on any number of threads.
"""

import numpy as np

from bag_generators.image import SIDE

CELLS = 8
NO_DIFFERENCE = 3.0  # grey levels
GREY_WEIGHTS = np.array([0.299, 0.587, 0.114])
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
    # Column sums stay below 2^24 and so are exact in float32; the second product is exact in float64. Slices of 96
    # columns are small enough to be multiplied on one thread: waiting for a second one would take longer.
    slices = working.astype(np.float32).reshape(SIDE, -1, 96).swapaxes(0, 1)  # (7, 224, 96)
    bands = (_WEIGHTS_32 @ slices).swapaxes(0, 1).astype(np.float64)  # (8, 7, 96)
    return np.asarray(_WEIGHTS @ bands.reshape(CELLS, SIDE, 3)) * _SCALE


def colour_name(rgb: np.ndarray) -> str:
    """A plain name for a colour of stained tissue, red, green and blue 0..255.

    >>> colour_name(np.array([245, 243, 246])), colour_name(np.array([90, 50, 140]))
    ('almost white', 'dark violet')
    """
    brightness, spread = float(GREY_WEIGHTS @ rgb), float(np.ptp(rgb))
    if brightness > 225 and spread < 25:
        return "almost white"
    shade = "dark" if brightness < 110 else "pale" if brightness > 185 else "medium"
    red, green, blue = (float(value) for value in rgb)
    if spread < 12:
        return f"{shade} grey"
    if green >= max(red, blue):
        return f"{shade} green"
    lean = red - blue
    return f"{shade} {'pink' if lean > 12 else 'violet' if lean < -12 else 'purple'}"


def its_colour(rgb: np.ndarray) -> str:
    """A mean colour in a sentence."""
    red, green, blue = (f"{value:.0f}" for value in rgb)
    return f"On average it is {colour_name(rgb)} (red {red}, green {green}, blue {blue})."


def brighter(rgb_difference: np.ndarray) -> str:
    """How bright something is beside something else: “12 levels darker than”."""
    difference = float(GREY_WEIGHTS @ rgb_difference)
    if abs(difference) < NO_DIFFERENCE:
        return "about as bright as"
    return f"{abs(difference):.0f} levels {'brighter' if difference > 0 else 'darker'} than"
