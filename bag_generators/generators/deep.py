"""Deep: independent patches of 28 µm, each seen by a frozen network that has learned from photographs (n×128).

Nothing is shrunk: a 224 px tile gives 16 patches, a field of 672 px gives 144. The picture is brought to 0.5 µm per
pixel first where its scale is known, and taken to have that scale where it is not.
"""

from collections.abc import Sequence
from itertools import pairwise, product

import numpy as np

from bag_generators.bag import Bag
from bag_generators.errors import InputError
from bag_generators.generator import Generator
from bag_generators.generators.encoder import ENCODER, PATCH, WIDTH, encoder_device, shipped_encoder
from bag_generators.generators.feature_cache import cached
from bag_generators.generators.working_size import check_size
from bag_generators.regions import BoxRegions, edges
from bag_generators.steps import Pixels, Step

MICRONS_PER_PIXEL = 0.5
"""The scale the patches are cut at: that of the tiles of the paper."""
MOST_PATCHES = 4096
FEATURE_NAMES = tuple(f"deep {i + 1}" for i in range(WIDTH))


def deep(pixels: np.ndarray, shape: tuple[int, int]) -> tuple[np.ndarray, BoxRegions]:
    """Bag of a picture at 0.5 µm per pixel: features (n, 128), and cells that cover the picture of size `shape`.

    Cells are at most as large as a patch, which is cut around the middle of its cell. Of a picture with more than
    4,096 patches the cells are larger, and each patch shows the middle of its cell only.
    """
    ((features, regions),) = deep_together([pixels], [shape])
    return features, regions


def deep_together(
    pictures: Sequence[np.ndarray], shapes: Sequence[tuple[int, int]]
) -> list[tuple[np.ndarray, BoxRegions]]:
    """The bags of several pictures, whose patches go through the network together: sooner, equal but for rounding."""
    grids = [_grid(pixels, shape) for pixels, shape in zip(pictures, shapes, strict=True)]
    encoder = shipped_encoder()

    def encoded(missing: Sequence[np.ndarray]) -> list[np.ndarray]:
        patches = [_patches(pixels) for pixels in missing]
        return np.split(encoder.encode(np.concatenate(patches)), np.cumsum([len(some) for some in patches])[:-1])

    made_by = f"deep {encoder.card.sha256} {encoder.device} {PATCH} {MOST_PATCHES}"
    regions = (_cells(*grid, shape) for grid, shape in zip(grids, shapes, strict=True))
    return list(zip(cached(pictures, made_by, encoded), regions, strict=True))


def _grid(pixels: np.ndarray, shape: tuple[int, int]) -> tuple[int, int]:
    """Rows and columns of patches; pictures that can't have any are refused."""
    check_size(*shape)
    height, width = pixels.shape[:2]
    if min(height, width) < PATCH:
        raise InputError(
            f"At {MICRONS_PER_PIXEL:g} µm per pixel the picture measures {width}×{height} px; a patch needs "
            f"{PATCH}×{PATCH} px.",
            "Choose a larger picture or check its scale.",
        )
    return grid_of(height, width)


def _patches(pixels: np.ndarray) -> np.ndarray:
    height, width = pixels.shape[:2]
    rows, columns = grid_of(height, width)
    corners = product(_starts(rows, height), _starts(columns, width))
    return np.stack([pixels[y : y + PATCH, x : x + PATCH] for y, x in corners])


def grid_of(height: int, width: int) -> tuple[int, int]:
    """Rows and columns of patches of a picture at 0.5 µm per pixel.

    >>> grid_of(224, 224), grid_of(672, 672), grid_of(20000, 20000)
    ((4, 4), (12, 12), (64, 64))
    """
    rows, columns = -(-height // PATCH), -(-width // PATCH)
    if rows * columns > MOST_PATCHES:
        shrink = (MOST_PATCHES / (rows * columns)) ** 0.5
        rows = min(max(1, int(rows * shrink)), MOST_PATCHES)
        columns = min(columns, MOST_PATCHES // rows)
    return rows, columns


def _starts(count: int, side: int) -> list[int]:
    """Where the patches begin: each around the middle of its cell, none beyond the edge."""
    cuts = edges(count, side)
    return [min(max((low + high - PATCH) // 2, 0), side - PATCH) for low, high in pairwise(cuts)]


def _cells(rows: int, columns: int, shape: tuple[int, int]) -> BoxRegions:
    y, x = edges(rows, shape[0]), edges(columns, shape[1])
    return BoxRegions([(x[j], y[i], x[j + 1], y[i + 1]) for i, j in product(range(rows), range(columns))], shape)


def in_words(bag: Bag, instance: int) -> str:
    """What known tissue the network finds a patch most like."""
    encoder = shipped_encoder()
    away = (bag.features[instance] - encoder.likenesses) / encoder.spread  # (c, 128)
    first, second = np.argsort(np.square(away).mean(axis=1), kind="stable")[:2]
    names = encoder.card.likeness_names
    return f"It looks most like {names[first]}, then like {names[second]}, to a network that knows no diagnosis."


def steps(pixels: np.ndarray, bag: Bag, instance: int) -> list[Step]:
    """The picture with the patch framed, and the patch as the network sees it."""
    height, width = pixels.shape[:2]
    rows, columns = grid_of(height, width)
    y, x = _starts(rows, height)[instance // columns], _starts(columns, width)[instance % columns]
    return [
        Step("The picture at 0.5 µm per pixel, the patch framed", Pixels(pixels, [(x, y, x + PATCH, y + PATCH)])),
        Step("The patch, which the network sees on its own", Pixels(pixels[y : y + PATCH, x : x + PATCH], [])),
    ]


def gathers() -> bool:
    """Whether patches of many pictures go to one GPU together."""
    return encoder_device() != "cpu"


GENERATOR = Generator(
    "deep",
    "Deep",
    "Patches of 28 µm, each on its own: 128 numbers of a network that has learned from photographs.",
    FEATURE_NAMES,
    deep,
    sees="original",
    microns_per_pixel=MICRONS_PER_PIXEL,
    in_words=in_words,
    steps=steps,
    gathers=gathers,
    together=deep_together,
    remark="EfficientNet-Lite0 reads every patch by itself: what stands beside it changes nothing.",
    files=(f"encoder/{ENCODER}.safetensors",),
)
