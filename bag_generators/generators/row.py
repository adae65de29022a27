"""Row: one instance per row of the colour grid, compared with the rows above and below (8×9)."""

import numpy as np

from bag_generators.generator import Bag, Generator, Pixels, Step, Swatches
from bag_generators.generators.grid import CELLS, brighter, colour_grid, its_colour
from bag_generators.image import SIDE
from bag_generators.regions import BoxRegions

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
    return (_COMPARISONS @ rows).reshape(CELLS, 9).astype(np.float32), BoxRegions.even(CELLS, 1, shape)


def in_words(bag: Bag, instance: int) -> str:
    """A band's colour, and how bright it is beside its neighbours."""
    values = bag.features[instance]
    above, below = brighter(values[3:6]), brighter(values[6:9])
    return f"{its_colour(values[:3])} It is {above} the band above and {below} the band below."


def steps(working: np.ndarray, bag: Bag, instance: int) -> list[Step]:
    """From the picture to the colours of the band and of its neighbours."""
    band = SIDE // CELLS
    above, below = (instance - 1) % CELLS, (instance + 1) % CELLS
    own, *_ = values = bag.features[instance].reshape(3, 3)
    names = [f"above ({above})", f"this one ({instance})", f"below ({below})"]
    return [
        Step(
            "The picture at 224 × 224 px, the band framed",
            Pixels(working, [(0, instance * band, SIDE, (instance + 1) * band)]),
        ),
        Step(
            "Blurred, then averaged to an 8 × 8 grid",
            Pixels(colour_grid(working), [(0, i, CELLS, i + 1) for i in (instance, above, below)]),
        ),
        Step(
            "Mean colour of the row above, this row, the row below",
            Swatches([own - values[1], own, own - values[2]], names),
        ),
    ]


GENERATOR = Generator(
    "row",
    "Row",
    "8 horizontal bands: their colour, and how it differs from the bands above and below.",
    FEATURE_NAMES,
    row,
    in_words=in_words,
    steps=steps,
    remark="The first and the last row count as neighbours.",
)
