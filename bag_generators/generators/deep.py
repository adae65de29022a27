"""Deep: cells of 7 µm, each as a network adapted to colorectal tissue sees it from near and from afar (n×256).

The network runs once over the whole picture at each of two scales, and its maps are read at every cell: a 224 px tile
gives 256 cells. A cell knows what lies around it. The picture is brought to 0.5 µm per pixel first where its scale is
known, and taken to have that scale where it is not.
"""

import numpy as np

from bag_generators.base.errors import InputError
from bag_generators.generator import Bag, Generator, Pixels, Step
from bag_generators.generators.encoder import CELL, ENCODER, VIEWS, WIDTH, shipped_encoder
from bag_generators.image import check_size
from bag_generators.regions import BoxRegions, edges

MICRONS_PER_PIXEL = 0.5
"""The scale the picture is read at: that of the tiles of the paper."""
SMALLEST, LARGEST_CELL = 56, 224
MOST_CELLS = 65_536
BLOCK, MOST_BLOCKS = 56, 4_096
"""Pixels along a side of what is removed at once."""
FEATURE_NAMES = tuple(f"{view} {i + 1}" for view in ("near", "wide") for i in range(WIDTH))


def deep(pixels: np.ndarray, shape: tuple[int, int], cell: int = CELL) -> tuple[np.ndarray, BoxRegions]:
    """Bag of a picture at 0.5 µm per pixel: features (n, 256), and cells that cover the picture of size `shape`.

    Cells measure 14 px unless another side is asked for; of a picture that would have more than 65,536 they are larger.
    """
    check_size(*shape)
    if not isinstance(cell, int) or not CELL <= cell <= LARGEST_CELL:
        raise InputError(f"A cell can't measure {cell!r} px.", f"Choose {CELL} to {LARGEST_CELL}.")
    height, width = pixels.shape[:2]
    if min(height, width) < SMALLEST:
        raise InputError(
            f"At {MICRONS_PER_PIXEL:g} µm per pixel the picture measures {width}×{height} px; Deep needs "
            f"{SMALLEST}×{SMALLEST} px.",
            "Choose a larger picture or check its scale.",
        )
    rows, columns = (min(count, side) for count, side in zip(grid_of(height, width, cell), shape, strict=True))
    regions = BoxRegions.even(rows, columns, shape, blocks_of((rows, columns), height, width))
    return shipped_encoder().cells(pixels, (rows, columns)), regions


def grid_of(height: int, width: int, cell: int = CELL, most: int | None = None) -> tuple[int, int]:
    """Rows and columns of cells of a picture at 0.5 µm per pixel, `most` in all (default: 65,536).

    >>> grid_of(224, 224), grid_of(1000, 700), grid_of(20000, 20000)
    ((16, 16), (71, 50), (255, 257))
    """
    most = MOST_CELLS if most is None else most
    rows, columns = max(1, round(height / cell)), max(1, round(width / cell))
    if rows * columns > most:
        shrink = (most / (rows * columns)) ** 0.5
        rows = max(1, int(rows * shrink))
        columns = min(columns, most // rows)
    return rows, columns


def blocks_of(grid: tuple[int, int], height: int, width: int) -> np.ndarray:
    """The block of each cell of a picture's grid, (rows · columns,): what lies within about 56 px goes together.

    A cell has seen its neighbours, so that without it alone hardly anything is gone. Of a picture that would have
    more than 4,096 blocks they are larger.

    >>> blocks_of((2, 10), 28, 140)
    array([0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1])
    """
    counts = [min(sides) for sides in zip(grid, grid_of(height, width, BLOCK, MOST_BLOCKS), strict=True)]
    row, column = (
        np.repeat(np.arange(count), np.diff(edges(count, cells))) for count, cells in zip(counts, grid, strict=True)
    )
    return np.add.outer(row * counts[1], column).ravel()


def in_words(bag: Bag, instance: int) -> str:
    """What known tissue the network finds a cell most like."""
    encoder = shipped_encoder()
    away = (bag.features[instance] - encoder.likenesses) / encoder.spread  # (c, 256)
    first, second = np.argsort(np.square(away).mean(axis=1), kind="stable")[:2]
    names = encoder.card.likeness_names
    return f"With its surroundings it looks most like {names[first]}, then like {names[second]}."


def steps(pixels: np.ndarray, bag: Bag, instance: int) -> list[Step]:
    """The picture with the cell framed, and what the network sees around it, near and wide."""
    height, width = pixels.shape[:2]
    columns = min(grid_of(height, width, bag.params["cell"])[1], bag.regions.shape[1])
    rows = len(bag) // columns
    y, x = edges(rows, height), edges(columns, width)
    i, j = divmod(instance, columns)
    shown = [
        Step("The picture at 0.5 µm per pixel, the cell framed", Pixels(pixels, [(x[j], y[i], x[j + 1], y[i + 1])]))
    ]
    for view, called in zip(VIEWS, ("near", "wide"), strict=True):
        top, bottom = _around((y[i] + y[i + 1]) // 2, view, height)
        left, right = _around((x[j] + x[j + 1]) // 2, view, width)
        cell = (x[j] - left, y[i] - top, x[j + 1] - left, y[i + 1] - top)
        seen = Pixels(pixels[top:bottom, left:right], [cell])
        shown.append(Step(f"What the network sees around it, {called}: {view} px", seen))
    return shown


def _around(middle: int, view: int, side: int) -> tuple[int, int]:
    start = int(np.clip(middle - view // 2, 0, max(0, side - view)))
    return start, min(side, start + view)


GENERATOR = Generator(
    "deep",
    "Deep",
    "Cells of 7 µm: 256 numbers of a network adapted to colorectal tissue, from near and from afar.",
    FEATURE_NAMES,
    deep,
    {"cell": CELL},
    sees="original",
    microns_per_pixel=MICRONS_PER_PIXEL,
    in_words=in_words,
    steps=steps,
    remark="EfficientNet-Lite0 reads the whole picture at two scales: a cell knows what lies around it.",
    files=(f"encoder/{ENCODER}.safetensors",),
)
