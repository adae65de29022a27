"""SBN, single blob with neighbours: a 2×2 blob of the colour grid and its four neighbours (9×15)."""

from functools import lru_cache
from itertools import product

import numpy as np

from bag_generators.generator import Bag, Generator, Pixels, Step, Swatches
from bag_generators.generators.grid import CELLS, brighter, colour_grid, its_colour
from bag_generators.image import SIDE
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
_CENTRES = tuple(product((2, 3, 4), repeat=2))  # (row, column) of the upper left cell, row-major
_SIDES = ((0, -2), (0, 2), (-2, 0), (2, 0))  # left, right, up, down


def blobs(i: int) -> tuple[tuple[int, int], ...]:
    """Upper left grid cells (row, column) of the five 2×2 blobs of instance i: centre, left, right, up, down.

    >>> blobs(0)
    ((2, 2), (2, 0), (2, 4), (0, 2), (4, 2))
    """
    a, b = _CENTRES[i]
    return ((a, b), *((a + down, b + right) for down, right in _SIDES))


def _comparisons() -> np.ndarray:
    """(45, 64): per centre the blob itself, then each neighbour less the blob, as weights of the grid's cells."""
    weights = []
    for i in range(len(_CENTRES)):
        own, *neighbours = (_blob(a, b) for a, b in blobs(i))
        weights += [own, *(neighbour - own for neighbour in neighbours)]
    return np.array(weights)


def _blob(a: int, b: int) -> np.ndarray:
    weights = np.zeros((CELLS, CELLS))
    weights[a : a + 2, b : b + 2] = 0.25
    return weights.ravel()


_COMPARISONS = _comparisons()


def sbn(working: np.ndarray, shape: tuple[int, int]) -> tuple[np.ndarray, BoxRegions]:
    """SBN bag of a 224×224 working copy: features (9, 15) and the boxes of the centre blobs, row-major.

    With blob(a, b) the mean RGB of the cells [a..a+1, b..b+1] and B0 the centre blob: B0, then
    blob(a, b−2) − B0, blob(a, b+2) − B0, blob(a−2, b) − B0, blob(a+2, b) − B0 for a, b ∈ {2, 3, 4}.
    """
    cells = colour_grid(working).reshape(CELLS**2, 3)
    return (_COMPARISONS @ cells).reshape(len(_CENTRES), 15).astype(np.float32), _regions(shape)


@lru_cache(maxsize=64)
def _regions(shape: tuple[int, int]) -> BoxRegions:
    y, x = (edges(CELLS, length) for length in shape)
    return BoxRegions([(x[b], y[a], x[b + 2], y[a + 2]) for a, b in _CENTRES], shape)


def in_words(bag: Bag, instance: int) -> str:
    """A blob's colour, and how bright its neighbours are."""
    own, *neighbours = bag.features[instance].reshape(5, 3)
    sides = ("left", "right", "upper", "lower")
    said = [f"the {side} one is {brighter(colour)} it" for side, colour in zip(sides, neighbours, strict=True)]
    return f"{its_colour(own)} Of its neighbours {', '.join(said[:-1])} and {said[-1]}."


def steps(working: np.ndarray, bag: Bag, instance: int) -> list[Step]:
    """From the picture to the colours of the five blobs."""
    cell = SIDE // CELLS
    own, *neighbours = bag.features[instance].reshape(5, 3)
    frames = [(column, row, column + 2, row + 2) for row, column in blobs(instance)]
    x0, y0, x1, y1 = frames[0]
    return [
        Step(
            "The picture at 224 × 224 px, the centre blob framed",
            Pixels(working, [(x0 * cell, y0 * cell, x1 * cell, y1 * cell)]),
        ),
        Step(
            "Blurred, averaged to 8 × 8: one blob of 2 × 2 cells and four neighbours",
            Pixels(colour_grid(working), frames),
        ),
        Step(
            "Mean colour of the five blobs",
            Swatches([own, *(own + other for other in neighbours)], ["centre", "left", "right", "upper", "lower"]),
        ),
    ]


GENERATOR = Generator(
    "sbn",
    "SBN",
    "9 overlapping blobs of the central half: their colour, and how four neighbours differ.",
    FEATURE_NAMES,
    sbn,
    in_words=in_words,
    steps=steps,
)
