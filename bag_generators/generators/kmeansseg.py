"""KMeansSeg: the picture's own segments, found by k-means on the colour and texture of 4×4 blocks (k×6)."""

import cv2
import numpy as np
import pywt

from bag_generators.generator import Bag, Generator, NumberMap, Segments, Step, Tries
from bag_generators.generators.grid import NO_DIFFERENCE
from bag_generators.generators.kmeans import Clustering, grow
from bag_generators.image import SIDE
from bag_generators.regions import LabelRegions

FEATURE_NAMES = (
    "brightness (Y)",
    "blueness (Cb)",
    "redness (Cr)",
    "texture, horizontal detail",
    "texture, vertical detail",
    "texture, diagonal detail",
)
BLOCK = 4
_PER_SIDE = SIDE // BLOCK
MOST_CLUSTERS = 16
TIGHT = 1e5
"""Clusters with a smaller spread D(k) are good enough."""
LITTLE_GAIN = 2e8 * (_PER_SIDE**2 / 3136)
"""A further cluster that lowers D(k) by less is not worth having."""
_BEYOND = 3  # clusters shown beyond the stop, to see that they gain little

# Studio-range YCbCr of 0..255 RGB; the last column is the offset, half a step up so that flooring rounds.
_YCBCR = np.array(
    [
        (65.481 / 255, 128.553 / 255, 24.966 / 255, 16.5),
        (-37.797 / 255, -74.203 / 255, 112.0 / 255, 128.5),
        (112.0 / 255, -93.786 / 255, -18.214 / 255, 128.5),
    ]
)
_YCBCR[:, 3] += 1e-9  # exact halves must not fall below by a floating-point hair


def kmeansseg(working: np.ndarray, shape: tuple[int, int]) -> tuple[np.ndarray, LabelRegions]:
    """KMeansSeg bag of a 224×224 working copy: features (k, 6) and a label map, largest segment first.

    An instance is the centroid of a cluster of 4×4 blocks: mean Y, Cb, Cr and the RMS of the three detail bands
    of the block's one-level db4 wavelet transform.
    """
    clusters = choose_k(block_features(working))
    areas = np.bincount(clusters.labels)
    by_area = np.lexsort((*clusters.centres.T[::-1], -areas))  # equal areas: the darker first
    rank = np.empty(len(areas), dtype=np.int8)
    rank[by_area] = np.arange(len(areas))
    cells = rank[clusters.labels].reshape(_PER_SIDE, _PER_SIDE)
    return clusters.centres[by_area].astype(np.float32), LabelRegions(cells, shape, len(areas))


def choose_k(points: np.ndarray) -> Clustering:
    """Cluster with k = 2, 3, … up to 16 until the clusters are tight or another one gains little.

    With D(k) = Σ_blocks (squared distance to the own centroid)², stop at the first k with D(k) < 1e5, or k ≥ 3
    and D(k−1) − D(k) < 2e8. Where all blocks are equal there is one cluster.
    """
    before = np.inf
    for clusters in grow(points, MOST_CLUSTERS):
        k, now = len(clusters.centres), spread(clusters)
        if k >= 2 and (now < TIGHT or (k >= 3 and before - now < LITTLE_GAIN)):
            break
        before = now
    return clusters


def spread(clusters: Clustering) -> float:
    """D(k), the sum over the blocks of the fourth power of the distance to the own centroid."""
    return float(np.square(clusters.distances).sum())


def block_features(working: np.ndarray) -> np.ndarray:
    """Colour and texture of each 4×4 block, row by row: (3136, 6) float64."""
    # In four strips: asking the system for the memory of the whole picture takes longer than the rest.
    return np.concatenate([_features_of(strip) for strip in np.split(working, 4)])


def _features_of(strip: np.ndarray) -> np.ndarray:
    ycbcr, rows = to_ycbcr(strip), len(strip) // BLOCK
    means = cv2.resize(ycbcr, (_PER_SIDE, rows), interpolation=cv2.INTER_AREA)  # whole numbers / 16: exact
    blocks = ycbcr[:, :, 0].reshape(rows, BLOCK, _PER_SIDE, BLOCK).swapaxes(1, 2)
    details = blocks.reshape(rows, _PER_SIDE, BLOCK * BLOCK) @ _DETAILS  # (rows, 56, 33)
    energy = np.square(details, out=details) @ _BANDS
    return np.concatenate([means, np.sqrt(energy)], axis=2).reshape(-1, 6)


def to_ycbcr(rgb: np.ndarray) -> np.ndarray:
    """Studio-range YCbCr rounded to whole numbers, (H, W, 3) float64, from (H, W, 3) uint8 RGB."""
    ycbcr = cv2.transform(rgb.astype(np.float64), _YCBCR)
    return np.floor(ycbcr, out=ycbcr)


def _detail_matrices() -> tuple[np.ndarray, np.ndarray]:
    """(16, 33) and (33, 3): `(block @ first)² @ second` is the mean square of a block's three detail bands.

    One level of db4 turns 4 samples into 5 coarse and 5 detail ones, both linear in the samples. Only the mean
    square of a band matters, so each of these 5×4 maps is replaced by the square root of its Gram matrix.
    """
    coarse, detail = (_gram_root(part) for part in pywt.dwt(np.eye(BLOCK), "db4", axis=0))
    horizontal, vertical, diagonal = np.kron(detail, coarse), np.kron(coarse, detail), np.kron(detail, detail)
    bands = (horizontal, vertical, diagonal)
    return np.vstack(bands).T.copy(), np.repeat(np.eye(3), [len(band) for band in bands], axis=0)


def _gram_root(transform: np.ndarray) -> np.ndarray:
    """The shortest matrix that gives vectors of the same squared length as `transform`, per row of `transform`."""
    values, vectors = np.linalg.eigh(transform.T @ transform / len(transform))
    kept = values > 1e-12
    return np.asarray((vectors[:, kept] * np.sqrt(values[kept])).T)


_DETAILS, _BANDS = _detail_matrices()


def in_words(bag: Bag, instance: int) -> str:
    """A segment's size, brightness, colour and roughness."""
    brightness, blue, red, *texture = (float(value) for value in bag.features[instance])
    area = float(bag.regions.mask(instance).mean())
    rough = "smooth" if max(texture) < 6 else "rough" if max(texture) > 18 else "slightly rough"
    return (
        f"It covers {area:.0%} of the picture. Brightness {brightness:.0f} (16 is black, 235 white), "
        f"{_lean(blue, 'blue', 'yellow')}, {_lean(red, 'red', 'cyan')}. Its blocks are {rough}."
    )


def _lean(value: float, above: str, below: str) -> str:
    offset = value - 128
    if abs(offset) < NO_DIFFERENCE:
        return f"neither {above} nor {below}"
    return f"{abs(offset):.0f} towards {above if offset > 0 else below}"


def steps(working: np.ndarray, bag: Bag, instance: int) -> list[Step]:
    """From the blocks of the picture to its segments, with the rule that stops."""
    points = block_features(working)
    blocks = points.reshape(_PER_SIDE, _PER_SIDE, -1)
    _, regions = kmeansseg(working, bag.regions.shape)
    labels = regions.cells
    small = cv2.resize(working, (_PER_SIDE, _PER_SIDE), interpolation=cv2.INTER_AREA)
    stopped = len(bag)
    spreads = [spread(clusters) for clusters in grow(points, max(stopped, 2) + _BEYOND)]
    first = min(2, stopped)
    return [
        Step(
            "Blocks of 4 × 4 px: their mean brightness",
            NumberMap(blocks[:, :, 0], f"brightness of the {BLOCK} × {BLOCK} block", grey=True),
        ),
        Step(
            "Wavelet transform of each block: how rough it is",
            NumberMap(np.sqrt(np.square(blocks[:, :, 3:]).sum(axis=2)), "roughness"),
        ),
        Step(
            "k-means with 2, 3, … clusters, until one more lowers the spread D by less than 2·10⁸",
            Tries(range(first, len(spreads) + 1), spreads[first - 1 :], stopped, "clusters k", "D(k)"),
        ),
        Step(
            "The clusters are the instances; this one is in colour",
            Segments(labels, instance, small[labels == instance].mean(axis=0)),
        ),
    ]


GENERATOR = Generator(
    "kmeansseg",
    "KMeansSeg",
    "The picture's own segments: blocks of similar colour and texture, found by k-means.",
    FEATURE_NAMES,
    kmeansseg,
    in_words=in_words,
    steps=steps,
)
