"""Drawing a phantom: tissue layers become stain concentrations, and those become pixels.

A phantom is neutral tissue with the class in one part of it: loose connective tissue, or fat, which looks like none of
the seven classes (loose tissue and stroma are akin). The background, the stain, the place and
the camera's noise depend on the seed alone, so the same seed drawn as another kind differs by its class and
nothing else: the kind can only be learnt from the pixels that carry it. Phantoms teach and test; they are not
tissue.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from bag_generators.errors import InputError
from bag_generators.tissue.phantom.glands import normal_mucosa, tumour
from bag_generators.tissue.phantom.nuclei import draw_nuclei
from bag_generators.tissue.phantom.shapes import coordinates, sample, smooth_noise
from bag_generators.tissue.phantom.tissues import (
    Area,
    Layer,
    debris,
    fat,
    loose_tissue,
    lymphocytes,
    mucus,
    muscle,
    stroma,
)

PHANTOM_KINDS: Mapping[str, str] = MappingProxyType(
    {
        "DEB": "Debris: grainy, eosin-pink dead tissue with nuclear dust.",
        "LYM": "Lymphocytes: small, round, dark nuclei packed side by side.",
        "MUC": "Mucus: a pale, bluish pool with thin strands and hardly a cell.",
        "MUS": "Smooth muscle: deep pink parallel bundles with cigar-shaped nuclei along them.",
        "NORM": "Normal mucosa: round crypts with goblet cells and one regular row of nuclei at the base.",
        "STR": "Tumour stroma: dense wavy pink collagen with thin, long nuclei.",
        "TUM": "Tumour: crowded irregular glands with large, dark nuclei of many shapes.",
    }
)
"""The seven tissue types a phantom can show, with a line about what to look for."""

_PAINTERS: Mapping[str, Callable[[np.random.Generator, Area], Layer]] = {
    "DEB": debris,
    "LYM": lymphocytes,
    "MUC": mucus,
    "MUS": muscle,
    "NORM": normal_mucosa,
    "STR": stroma,
    "TUM": tumour,
}

_BACKGROUNDS: Mapping[str, Callable[[np.random.Generator, int], Layer]] = {"loose": loose_tissue, "fat": fat}

HAEMATOXYLIN_EOSIN = np.array([[0.5626, 0.7201, 0.4062], [0.2159, 0.8012, 0.5581]])
"""Unit optical densities of the two stains in R, G, B: the reference of Macenko et al., ISBI 2009."""

_SMALLEST, _COVERAGE = 64, (0.1, 0.9)


@dataclass(frozen=True, eq=False)
class Phantom:
    """A drawn tile and its truth."""

    pixels: np.ndarray  # (H, W, 3) uint8 RGB, read-only
    truth: np.ndarray  # (H, W) bool, read-only: which pixels carry the class
    kind: str
    seed: int


def draw(kind: str, seed: int, size: int = 224, coverage: float | None = None, background: str = "loose") -> Phantom:
    """The phantom of this kind and seed, `size` px square (a larger one shows more tissue, not larger cells).

    `coverage` is the share of pixels that carry the class; by default it is drawn from .25 to .60. `background` is what
    lies around it: loose tissue or fat.
    The same arguments always give the same pixels.

    >>> phantom = draw("LYM", seed=1)
    >>> phantom.pixels.shape, round(float(draw("LYM", seed=1, coverage=0.5).truth.mean()), 2)
    ((224, 224, 3), 0.5)
    """
    _check(kind, seed, size, coverage)
    shared = np.random.default_rng([seed, 0])
    own = np.random.default_rng([seed, 1 + list(PHANTOM_KINDS).index(kind)])

    drawn_coverage = float(shared.uniform(0.25, 0.60))
    area = Area(_area(shared, size), drawn_coverage if coverage is None else coverage)
    stain = _stain(shared)
    around = _BACKGROUNDS[background](shared, size)
    layer = _PAINTERS[kind](own, area)

    haematoxylin, eosin = _compose(around, layer, chromatin=smooth_noise(shared, size, 1.7))
    density = haematoxylin[..., None] * stain[0] + eosin[..., None] * stain[1]
    light = 246 * np.exp(-density) + 1.5 * shared.standard_normal((size, size, 3), dtype=np.float32)
    pixels = np.clip(np.rint(light), 0, 255).astype(np.uint8)
    truth = layer.mask >= 0.5
    pixels.flags.writeable = truth.flags.writeable = False
    return Phantom(pixels, truth, kind, seed)


def _check(kind: str, seed: int, size: int, coverage: float | None) -> None:
    if kind not in PHANTOM_KINDS:
        kinds = ", ".join(PHANTOM_KINDS)
        raise InputError(f"There is no phantom of kind “{kind}”.", f"Choose one of {kinds}.")
    if seed < 0:
        raise InputError(f"The seed {seed} is negative.", "Choose 0 or a positive whole number.")
    if size < _SMALLEST:
        raise InputError(f"A phantom of {size} px is too small.", f"Choose at least {_SMALLEST} px.")
    low, high = _COVERAGE
    if coverage is not None and not low <= coverage <= high:
        raise InputError(f"The class can't cover {coverage} of the tile.", f"Choose from {low} to {high}.")


def _area(rng: np.random.Generator, size: int) -> np.ndarray:
    """A field (size, size) that falls off unevenly around a random point, so that its top is a blob.

    The point lies off the middle, but not in a corner: a generator that only looks at the middle of the tile
    shall see some of the class and some of the background.
    """
    x, y = coordinates(size)
    direction, distance = rng.uniform(0, 2 * np.pi), rng.uniform(0.3, 0.45)
    cx = np.float32(0.5 + distance * np.cos(direction)) * size
    cy = np.float32(0.5 + distance * np.sin(direction)) * size
    field = -np.hypot(x - cx, y - cy) / size
    field += np.float32(0.08) * smooth_noise(rng, size, size / 5)
    return field + np.float32(0.02) * smooth_noise(rng, size, 9)


def _stain(rng: np.random.Generator) -> np.ndarray:
    """(haematoxylin, eosin) × RGB for one slide: the reference stain, a little off in hue and in strength."""
    stain = HAEMATOXYLIN_EOSIN * (1 + rng.normal(0, 0.03, (2, 3)))
    stain /= np.linalg.norm(stain, axis=1, keepdims=True)
    return (stain * rng.uniform(0.88, 1.12, (2, 1))).astype(np.float32)


def _compose(background: Layer, layer: Layer, chromatin: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Concentration maps of both stains with the layer laid over the background and all nuclei drawn in."""
    mask = layer.mask
    haematoxylin = background.haematoxylin * (1 - mask) + layer.haematoxylin * mask
    eosin = background.eosin * (1 - mask) + layer.eosin * mask
    outside = [group.where(sample(mask, group.centres) < 0.05) for group in background.nuclei]
    nuclei = draw_nuclei(len(mask), [*outside, *layer.nuclei])
    inside = np.clip(nuclei, 0, 1)
    return (
        np.maximum(haematoxylin * (1 - inside) + nuclei * (1 + 0.16 * chromatin), 0),
        np.maximum(eosin * (1 - 0.25 * inside), 0),
    )
