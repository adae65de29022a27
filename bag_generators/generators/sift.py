"""SIFT: a fixed 5×5 grid of upright SIFT descriptors (25×128).

The grid never moves, and both the Gaussian window and the sharing between cells are products of a function of
y and a function of x. So all descriptors together are eight orientation maps with one small matrix on either
side.
"""

from collections.abc import Iterator
from itertools import product

import cv2
import numpy as np

from bag_generators.generator import Bag, Generator, NumberMap, Pixels, Stars, Step
from bag_generators.image import SIDE
from bag_generators.regions import BoxRegions

POINTS = (32, 72, 112, 152, 192)
"""Key points along each side of the working copy, px."""
CELL = 16
"""Side of one of a descriptor's 4×4 cells, px."""
_POINTS = len(POINTS)
_CELLS = 4
_ORIENTATIONS = 8
# Lowe describes at scale 1.6 and takes a camera's picture to have a blur of .5 already.
_BLUR = cv2.getGaussianKernel(13, (1.6**2 - 0.5**2) ** 0.5, cv2.CV_32F)
_CLIP = 0.2
# Shorter descriptors are rounding: a single pixel that is one grey level off gives about 1.
_FAINTEST = 0.05

_DIRECTIONS = (
    "the right", "the upper right", "the top", "the upper left",
    "the left", "the lower left", "the bottom", "the lower right",
)  # fmt: skip
FEATURE_NAMES = tuple(
    f"cell {row + 1}·{column + 1}, brighter towards {direction}"
    for row in range(_CELLS)
    for column in range(_CELLS)
    for direction in _DIRECTIONS
)


def sift(working: np.ndarray, shape: tuple[int, int]) -> tuple[np.ndarray, BoxRegions]:
    """SIFT bag of a 224×224 working copy: descriptors (25, 128) of length 1 and 5×5 cells, row-major.

    Lowe's descriptor with 4×4 cells of 16 px and 8 orientations: Gaussian window of sigma two cells, trilinear
    sharing, normalised, clipped at .2, normalised again. Where there is no gradient it is all zeros.
    """
    # Slices this small are multiplied on one thread, so the number of threads can't change a bit of the result.
    ramps = gradient_ramps(cv2.cvtColor(working, cv2.COLOR_RGB2GRAY))
    across = (ramp.reshape(-1, SIDE // 4, SIDE) @ _WINDOWS_ACROSS for ramp in ramps)
    sums = np.stack([_WINDOWS @ ramp.reshape(SIDE, -1) for ramp in across])  # (9, 20, 20)
    shares = np.maximum(_SHARES @ sums.reshape(len(sums), -1), 0)  # (8, 400)
    parts = shares.reshape(_ORIENTATIONS, _POINTS, _CELLS, _POINTS, _CELLS).transpose(1, 3, 2, 4, 0)
    descriptors = _unit(np.minimum(_unit(parts.reshape(_POINTS**2, -1), _FAINTEST), _CLIP))
    return descriptors, BoxRegions.even(_POINTS, _POINTS, shape)


def gradient_ramps(grey: np.ndarray) -> Iterator[np.ndarray]:
    """Gradient strength m and how far it turns beyond each of 8 directions, nine times (224, 224) float32.

    With t the clockwise direction in eighths of a turn from "brighter to the right": m, then m · max(t − o, 0) for
    o = 0..7. These are cheap to make, and `_SHARES` turns their sums into those of the 8 orientation maps. Each ramp
    takes the place of the one before.
    """
    blurred = cv2.sepFilter2D(grey, cv2.CV_32F, _BLUR, _BLUR)
    dx = cv2.Sobel(blurred, cv2.CV_32F, 1, 0, ksize=1)
    dy = cv2.Sobel(blurred, cv2.CV_32F, 0, 1, ksize=1)
    strength, ramp = cv2.cartToPolar(dx, dy)
    yield strength
    yield cv2.multiply(ramp, strength, dst=ramp, scale=_ORIENTATIONS / (2 * np.pi))
    for _ in range(1, _ORIENTATIONS):
        cv2.subtract(ramp, strength, dst=ramp)
        yield cv2.threshold(ramp, 0, 0, cv2.THRESH_TOZERO, dst=ramp)[1]


def _shares() -> np.ndarray:
    """(8, 9): orientation maps from ramps; direction o is o · 45° anticlockwise from "brighter to the right".

    A pixel's strength is shared linearly between the two directions next to its own. So direction o gets the tent
    m · max(1 − |t − o|, 0), which is the ramp from o − 1 less twice the one from o plus the one from o + 1.
    """
    clockwise = np.zeros((_ORIENTATIONS, _ORIENTATIONS + 2), dtype=np.float32)
    for o in range(1, _ORIENTATIONS):
        clockwise[o, o : o + 3] = 1, -2, 1
    clockwise[0, [0, 1, 2, _ORIENTATIONS]] = 1, -1, 1, 1  # the ramp from −1 is m + the one from 0; the last goes on
    return clockwise[-np.arange(_ORIENTATIONS) % _ORIENTATIONS, :-1]


_SHARES = _shares()


def _windows() -> np.ndarray:
    """(20, 224): weight of each pixel line for each cell of each key point: Gaussian window × linear sharing."""
    from_point = (np.arange(SIDE) - np.array(POINTS)[:, None]) / CELL  # (5, 224), in cells
    to_cell = from_point[:, None] - (np.arange(_CELLS) - (_CELLS - 1) / 2)[:, None]  # (5, 4, 224)
    window = np.exp(-np.square(from_point) / (0.5 * _CELLS**2))
    weights = window[:, None] * np.maximum(0, 1 - np.abs(to_cell))
    weights[:, :, [0, -1]] = 0  # no gradient without a neighbour on either side
    return weights.reshape(-1, SIDE).astype(np.float32)


_WINDOWS = _windows()
_WINDOWS_ACROSS = np.ascontiguousarray(_WINDOWS.T)


def _unit(rows: np.ndarray, faintest: float = 0.0) -> np.ndarray:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > faintest)


def in_words(bag: Bag, instance: int) -> str:
    """Where most edges point to and where they are strongest."""
    descriptor = _cells(bag, instance)
    if not descriptor.any():
        return "There is no edge here at all, so every number is zero."
    towards = descriptor.sum(axis=(0, 1))
    row, column = np.unravel_index(descriptor.sum(axis=2).argmax(), (_CELLS, _CELLS))
    main = int(towards.argmax())
    return (
        f"Most edges brighten towards {_DIRECTIONS[main]} ({towards[main] / towards.sum():.0%}; an even share is 12%). "
        f"The strongest cell is in row {row + 1}, column {column + 1}. Colour plays no part."
    )


def steps(working: np.ndarray, bag: Bag, instance: int) -> list[Step]:
    """From the grey picture over its gradients to the descriptor."""
    row, column = divmod(instance, _POINTS)
    side = _CELLS * CELL
    left, top = POINTS[column] - side // 2, POINTS[row] - side // 2
    patch = (left, top, left + side, top + side)
    cells = [(left + x, top + y, left + x + CELL, top + y + CELL) for y, x in product(range(0, side, CELL), repeat=2)]
    grey = cv2.cvtColor(working, cv2.COLOR_RGB2GRAY)
    return [
        Step(
            "Grey picture, the 64 px patch and its 4 × 4 cells framed",
            Pixels(grey[:, :, None].repeat(3, axis=2), [patch, *cells]),
        ),
        Step(
            "Gradients: where brightness changes, and how much",
            NumberMap(next(gradient_ramps(grey)), "gradient", [patch]),
        ),
        Step("In each cell, how much it brightens towards 8 directions", Stars(_cells(bag, instance))),
    ]


def _cells(bag: Bag, instance: int) -> np.ndarray:
    """A descriptor as it is laid out, (4, 4, 8) float64."""
    return bag.features[instance].reshape(_CELLS, _CELLS, _ORIENTATIONS).astype(np.float64)


GENERATOR = Generator(
    "sift",
    "SIFT",
    "A 5×5 grid of upright SIFT descriptors: which way edges run around each point, no colour.",
    FEATURE_NAMES,
    sift,
    in_words=in_words,
    steps=steps,
)
