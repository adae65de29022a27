"""Phantoms: drawn haematoxylin-eosin tiles whose class-carrying pixels are known, for teaching and tests.

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

from bag_generators.base.errors import InputError
from bag_generators.generator import Bag
from bag_generators.tissue import phantom_tissues as tissues
from bag_generators.tissue.phantom_tissues import Area, Layer, coordinates, draw_nuclei, sample, smooth_noise

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
    "DEB": tissues.debris,
    "LYM": tissues.lymphocytes,
    "MUC": tissues.mucus,
    "MUS": tissues.muscle,
    "NORM": tissues.normal_mucosa,
    "STR": tissues.stroma,
    "TUM": tissues.tumour,
}

_BACKGROUNDS: Mapping[str, Callable[[np.random.Generator, int], Layer]] = {
    "loose": tissues.loose_tissue,
    "fat": tissues.fat,
}

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


def instance_truth(bag: Bag, truth: np.ndarray) -> np.ndarray:
    """Which instances carry the class, (n,) bool: those of whose region `truth` covers at least half.

    Regions can be larger than the structure they hold (a row is as wide as the picture), so the most covered
    instance always counts, however small its share: a bag of class c has at least one instance of class c, as
    multi-instance learning assumes. Only if `truth` (H, W) touches no region at all does no instance count.
    """
    shares = instance_shares(bag, truth)
    return (shares >= min(0.5, shares.max())) & (shares > 0)


def instance_shares(bag: Bag, truth: np.ndarray) -> np.ndarray:
    """How much of the region of every instance `truth` (H, W) covers, (n,) from 0 to 1."""
    if truth.shape != bag.regions.shape:
        raise InputError(
            f"The truth is {truth.shape} pixels large and the bag's picture {bag.regions.shape}.",
            "Use the truth of the picture from which the bag was made.",
        )
    masks = (bag.regions.mask(i) for i in range(len(bag.regions)))
    return np.array([truth[mask].sum() / max(mask.sum(), 1) for mask in masks])
