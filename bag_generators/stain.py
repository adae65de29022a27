"""Stain normalisation: bring the colours of an H&E picture closer to those of a reference slide.

A method is a function from (H, W, 3) uint8 to the same; a new one is one function and one line in `_METHODS`.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

import cv2
import numpy as np

from bag_generators.errors import InputError

_BACKGROUND = 0.15
"""A pixel whose optical density is below this in every channel shows the bare glass."""
_FEWEST_TISSUE_PIXELS = 100

# Mean and spread of tissue in OpenCV's 8-bit L*a*b*; the reference of `reinhard`.
_LAB_MEAN = np.array((165.0, 152.0, 112.0), dtype=np.float32)
_LAB_SPREAD = np.array((32.0, 11.0, 8.0), dtype=np.float32)

# Optical density of haematoxylin and eosin (rows), and the strongest of each; the reference of `macenko`.
_REFERENCE_STAINS = np.array(((0.65, 0.70, 0.29), (0.07, 0.99, 0.11)))
_REFERENCE_STAINS /= np.linalg.norm(_REFERENCE_STAINS, axis=1, keepdims=True)
_REFERENCE_STRENGTH = np.array((1.6, 0.9))


def normalise(pixels: np.ndarray, method: str) -> np.ndarray:
    """The picture (H, W, 3) uint8 with its stain brought to the reference by `method`, one of `STAINS`."""
    function = _METHODS.get(method)
    if function is None:
        names = ", ".join(repr(name) for name in STAINS)
        raise InputError(f"There is no stain normalisation called {method!r}.", f"Choose one of {names}.")
    return function(pixels)


def _none(pixels: np.ndarray) -> np.ndarray:
    return pixels


def _reinhard(pixels: np.ndarray) -> np.ndarray:
    """Match mean and spread of the tissue in L*a*b* (Reinhard 2001); the bare glass does not count."""
    tissue = _tissue(pixels)
    if np.count_nonzero(tissue) < _FEWEST_TISSUE_PIXELS:
        return pixels
    lab = cv2.cvtColor(pixels, cv2.COLOR_RGB2LAB).astype(np.float32)
    inside = lab[tissue]
    gain = _LAB_SPREAD / np.maximum(inside.std(axis=0), 1.0)
    matched = (lab - inside.mean(axis=0)) * gain + _LAB_MEAN
    return np.asarray(cv2.cvtColor(np.clip(np.rint(matched), 0, 255).astype(np.uint8), cv2.COLOR_LAB2RGB))


def _macenko(pixels: np.ndarray) -> np.ndarray:
    """Replace the picture's two stains, the extreme directions of optical density, by the reference (Macenko 2009).

    Where they can't be found (one stain only) the picture is taken to have the reference's stains.
    """
    density = -np.log((pixels.reshape(-1, 3).astype(np.float64) + 1) / 256)
    tissue = density[_tissue(pixels).reshape(-1)]
    if len(tissue) < _FEWEST_TISSUE_PIXELS:
        return pixels
    stains = _estimate_stains(tissue)
    strength = density @ np.linalg.pinv(stains)  # (pixels, 2)
    strongest = np.percentile(tissue @ np.linalg.pinv(stains), 99, axis=0)
    matched = strength * (_REFERENCE_STRENGTH / np.maximum(strongest, 0.1)) @ _REFERENCE_STAINS
    return np.clip(np.rint(256 * np.exp(-matched) - 1), 0, 255).astype(np.uint8).reshape(pixels.shape)


def _estimate_stains(tissue: np.ndarray) -> np.ndarray:
    """Unit optical densities of haematoxylin and eosin, (2, 3)."""
    _, vectors = np.linalg.eigh(np.cov(tissue.T))
    plane = vectors[:, :0:-1]  # the two longest axes, (3, 2)
    plane = plane * np.where(plane.sum(axis=0) < 0, -1, 1)
    angle = np.arctan2(*(tissue @ plane).T[::-1])
    low, high = np.percentile(angle, (1, 99))
    first, second = (plane @ (np.cos(a), np.sin(a)) for a in (low, high))
    stains = np.array((first, second) if first[0] > second[0] else (second, first))
    plausible = high - low > 0.05 and (stains > -0.1).all()
    return stains if plausible else _REFERENCE_STAINS


def _tissue(pixels: np.ndarray) -> np.ndarray:
    """Which pixels carry stain, (H, W) bool."""
    return np.asarray(pixels.min(axis=2) < 255 * np.exp(-_BACKGROUND))


_METHODS: Mapping[str, Callable[[np.ndarray], np.ndarray]] = MappingProxyType(
    {"none": _none, "reinhard": _reinhard, "macenko": _macenko}
)
STAINS: tuple[str, ...] = tuple(_METHODS)
"""The names `normalise` knows; "none" leaves the picture as it is."""
