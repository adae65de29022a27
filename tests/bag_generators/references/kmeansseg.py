"""KMeansSeg written out literally: one pixel, one block, one point and one centre at a time."""

import numpy as np
import pywt

COEFFICIENTS = ((65481, 128553, 24966), (-37797, -74203, 112000), (112000, -93786, -18214))
OFFSETS = (16, 128, 128)


def ycbcr(rgb: tuple[int, ...]) -> list[int]:
    """Studio-range YCbCr of one pixel in whole numbers, halves rounded up."""
    sums = [sum(c * v for c, v in zip(row, rgb, strict=True)) for row in COEFFICIENTS]
    return [offset + (2 * value + 255000) // 510000 for value, offset in zip(sums, OFFSETS, strict=True)]


def block_features(pixels: np.ndarray) -> np.ndarray:
    """(blocks, 6): mean Y, Cb, Cr and the RMS of the three db4 detail bands of Y, block by block."""
    known: dict[tuple[int, ...], list[int]] = {}
    converted = np.zeros(pixels.shape)
    for y, line in enumerate(pixels.tolist()):
        for x, rgb in enumerate(line):
            key = tuple(rgb)
            if key not in known:
                known[key] = ycbcr(key)
            converted[y, x] = known[key]
    features = []
    for y in range(0, pixels.shape[0] - 3, 4):
        for x in range(0, pixels.shape[1] - 3, 4):
            block = converted[y : y + 4, x : x + 4]
            _, bands = pywt.dwt2(block[:, :, 0], "db4")
            features.append([*block.mean(axis=(0, 1)), *(np.sqrt(np.mean(band**2)) for band in bands)])
    return np.array(features)


def cluster(points: np.ndarray, tried: int = 3) -> list[tuple[np.ndarray, np.ndarray]]:
    """(centres, labels) of k = 1, 2, … up to and including the k at which the rule stops."""
    centres = [points.mean(axis=0)]
    labels = np.zeros(len(points), dtype=int)
    steps = [(np.array(centres), labels)]
    spreads = [spread(points, *steps[-1])]
    for k in range(2, 17):
        starts = []
        for j, centre in enumerate(steps[-1][0]):
            members = points[steps[-1][1] == j]
            values, vectors = np.linalg.eigh(np.cov(members.T, bias=True))
            step = np.sqrt(max(values[-1], 0)) * vectors[:, -1]
            others = [c for i, c in enumerate(steps[-1][0]) if i != j]
            if values[-1] > 1e-12:
                starts.append((-values[-1] * len(members), [*others, centre - step, centre + step]))
        if not starts:
            break
        starts.sort(key=lambda start: start[0])
        results = [lloyd(points, start) for _, start in starts[:tried]]
        steps.append(min(results, key=lambda result: inertia(points, *result)))
        spreads.append(spread(points, *steps[-1]))
        if spreads[-1] < 1e5 or (k >= 3 and spreads[-2] - spreads[-1] < 2e8 * (len(points) / 3136)):
            break
    return steps


def lloyd(points: np.ndarray, start: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    centres, labels = np.array(start), np.full(len(points), -1)
    while True:
        moved = False
        for i, point in enumerate(points):
            nearest = ((centres - point) ** 2).sum(axis=1).argmin()
            moved |= bool(nearest != labels[i])
            labels[i] = nearest
        if not moved:
            return centres, labels
        centres = np.array([points[labels == j].mean(axis=0) for j in range(len(centres))])


def inertia(points: np.ndarray, centres: np.ndarray, labels: np.ndarray) -> float:
    return float(sum(((point - centres[label]) ** 2).sum() for point, label in zip(points, labels, strict=True)))


def spread(points: np.ndarray, centres: np.ndarray, labels: np.ndarray) -> float:
    """D(k): the fourth powers of the distances."""
    return float(sum(((point - centres[label]) ** 2).sum() ** 2 for point, label in zip(points, labels, strict=True)))


def kmeansseg(pixels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Centroids (k, 6) and block labels (56, 56), the largest cluster first."""
    centres, labels = cluster(block_features(pixels))[-1]
    order = sorted(range(len(centres)), key=lambda j: (-int((labels == j).sum()), *centres[j]))
    ranked = np.array([order.index(label) for label in labels])
    return centres[order], ranked.reshape(pixels.shape[0] // 4, pixels.shape[1] // 4)
