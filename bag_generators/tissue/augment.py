"""Label-preserving copies of a tile: the eight symmetries, a slight zoom, and another slide's stain."""

import cv2
import numpy as np

from bag_generators.tissue.stain import DENSITY, USUAL_STAINS

_SMALLEST_CROP = 0.85
_STRENGTH, _OFFSET, _TURN = 0.2, 0.08, 0.06
"""How far stain strengths (factor), background stain (optical density) and stain vectors (factor) may move."""


def augmented(pixels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """One random copy of (H, W, 3) uint8, of the same shape for square tiles (turned otherwise)."""
    return restained(zoomed(symmetry(pixels, int(rng.integers(8))), rng), rng)


def symmetry(pixels: np.ndarray, number: int) -> np.ndarray:
    """One of the eight symmetries of the square, 0 to 7; 0 leaves the tile as it is."""
    turned = np.rot90(pixels, number % 4)
    return np.ascontiguousarray(turned[:, ::-1] if number >= 4 else turned)


def zoomed(pixels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A random part of at least 85 % of each side, brought back to the full size."""
    height, width = pixels.shape[:2]
    share = rng.uniform(_SMALLEST_CROP, 1.0)
    rows, columns = max(1, round(share * height)), max(1, round(share * width))
    top, left = int(rng.integers(height - rows + 1)), int(rng.integers(width - columns + 1))
    part = np.ascontiguousarray(pixels[top : top + rows, left : left + columns])
    return np.asarray(cv2.resize(part, (width, height), interpolation=cv2.INTER_LINEAR))


def restained(pixels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The tile as another laboratory might have stained it: haematoxylin and eosin jittered in optical density."""
    density = cv2.LUT(pixels, DENSITY)  # (H, W, 3)
    unmix = np.linalg.pinv(USUAL_STAINS)  # (3, 2)
    stains = cv2.transform(density, unmix.T)  # (H, W, 2)
    rest = density - cv2.transform(stains, USUAL_STAINS.T)
    gain = rng.uniform(1 - _STRENGTH, 1 + _STRENGTH, 2)
    offset = rng.uniform(-_OFFSET, _OFFSET, 2)
    turned = USUAL_STAINS * (1 + rng.normal(0, _TURN, USUAL_STAINS.shape))
    mixed = cv2.transform(stains * gain + offset, turned.T) + rest
    return np.clip(np.rint(256 * np.exp(-np.maximum(mixed, 0)) - 1), 0, 255).astype(np.uint8)
