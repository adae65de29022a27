"""Tissues a phantom is painted from: the neutral background and the kinds without glands. Each is a `Layer`.

Concentrations are optical densities: eosin 0.2 is pale pink, 0.9 deep pink, haematoxylin 1.5 a dark nucleus.
Sizes are in pixels at roughly 1 µm per pixel, so that several glands fit into a tile.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bag_generators.tissue.phantom.nuclei import Nuclei
from bag_generators.tissue.phantom.shapes import above, fibres, sample, scatter, smooth_noise, soft_share


@dataclass(frozen=True, eq=False)
class Area:
    """Where the class goes: the pixels with the highest `field` (size, size), `coverage` of the tile."""

    field: np.ndarray
    coverage: float

    @property
    def size(self) -> int:
        return len(self.field)

    def blob(self) -> np.ndarray:
        """A soft-edged mask (size, size), 0..1, whose half-height outline encloses `coverage` of the tile."""
        return soft_share(self.field, self.coverage)


@dataclass(frozen=True, eq=False)
class Layer:
    """One tissue: concentrations (size, size) of its ground substance, its nuclei, where it lies (0..1)."""

    haematoxylin: np.ndarray
    eosin: np.ndarray
    nuclei: list[Nuclei]
    mask: np.ndarray


def loose_tissue(rng: np.random.Generator, size: int) -> Layer:
    """The neutral background of every phantom: pale loose connective tissue, few fibres, few nuclei."""
    angle = rng.uniform(0, np.pi)
    weave = fibres(rng, size, angle=angle, along=38, across=4.5, wave=13, bend=60)
    wisps = fibres(rng, size, angle=angle + rng.uniform(-0.5, 0.5), along=24, across=2.2, wave=9, bend=40)
    cloud = smooth_noise(rng, size, 40)
    eosin = 0.16 + 0.03 * cloud + 0.02 * smooth_noise(rng, size, 2.5)
    eosin += 0.11 * above(weave.strength, 0.7, 0.6) + 0.09 * above(wisps.strength, 1.0, 0.5)
    eosin *= 1 - 0.7 * above(-weave.strength, 0.8, 0.4)
    points = scatter(rng, size, 25, 0.48)
    points = points[rng.random(len(points)) < 0.7]
    along = sample(weave.direction, points) + rng.normal(0, 0.25, len(points))
    round_ones = rng.random(len(points)) < 0.2
    spindle = Nuclei.at(rng, points, length=(8, 14), width=(3, 4.5), tone=(0.8, 1.3), angles=along)
    plump = Nuclei.at(rng, points, length=(6.5, 8), width=(5.5, 7), tone=(1.0, 1.5), pallor=0.15)
    return Layer(
        0.045 + 0.015 * cloud,
        eosin,
        [spindle.where(~round_ones), plump.where(round_ones)],
        np.ones((size, size), np.float32),
    )


def fat(rng: np.random.Generator, size: int) -> Layer:
    """Large empty cells with thin pink walls, a flat nucleus at a wall here and there."""
    centres = scatter(rng, size, 46, 0.3)
    y, x = np.mgrid[0:size, 0:size].astype(np.float32)
    distances = (
        np.hypot(x[..., None] - centres[:, 0], y[..., None] - centres[:, 1])
        + 2 * smooth_noise(rng, size, 30)[..., None]
    )
    nearest, second = np.moveaxis(np.partition(distances, 1, axis=2)[..., :2], 2, 0)
    wall = np.exp(-(((second - nearest) / 2.2) ** 2)).astype(np.float32)
    rise_y, rise_x = np.gradient(second - nearest)
    points = scatter(rng, size, 15, 0.45)
    points = points[(sample(wall, points) > 0.5) & (rng.random(len(points)) < 0.5)]
    along = np.arctan2(sample(rise_y, points), sample(rise_x, points)) + np.pi / 2
    flat = Nuclei.at(rng, points, length=(9, 13), width=(2.2, 3.4), tone=(0.9, 1.4), angles=along)
    return Layer(0.01 + 0.03 * wall, 0.015 + 0.34 * wall, [flat], np.ones((size, size), np.float32))


def lymphocytes(rng: np.random.Generator, area: Area) -> Layer:
    """Small, round, dark nuclei side by side, hardly any cytoplasm."""
    mask, size = area.blob(), area.size
    points = scatter(rng, size, 9, 0.26)
    points = points[(sample(mask, points) > 0.5) & (rng.random(len(points)) < 0.96)]
    small = Nuclei.at(rng, points, length=(7, 9), width=(6.2, 8), tone=(1.3, 2.1), roughness=0.05, pallor=0.2)
    cloud = smooth_noise(rng, size, 12)
    return Layer(0.14 + 0.04 * cloud, 0.2 + 0.08 * cloud, [small], mask)


def mucus(rng: np.random.Generator, area: Area) -> Layer:
    """A pale bluish pool with faint strands in which a few cells float."""
    mask, size = area.blob(), area.size
    angle = rng.uniform(0, np.pi)
    haematoxylin = 0.18 + 0.06 * smooth_noise(rng, size, 30) + 0.02 * smooth_noise(rng, size, 3)
    for across, strength in ((3.0, 0.16), (5.5, 0.2)):
        weave = fibres(rng, size, angle=angle, along=45, across=across, wave=10, bend=45)
        haematoxylin += strength * above(weave.strength, 0.9, 0.6)
    points = scatter(rng, size, 42, 0.4)
    points = points[(sample(mask, points) > 0.9) & (rng.random(len(points)) < 0.5)]
    few = Nuclei.at(rng, points, length=(6, 9), width=(5, 7), tone=(1.0, 1.6))
    return Layer(haematoxylin, 0.2 * haematoxylin, [few], mask)


def stroma(rng: np.random.Generator, area: Area) -> Layer:
    """Dense wavy collagen torn by white clefts, with thin nuclei along the fibres."""
    mask, size = area.blob(), area.size
    angle = rng.uniform(0, np.pi)
    weave = fibres(rng, size, angle=angle, along=45, across=4, wave=13, bend=42)
    threads = fibres(rng, size, angle=angle, along=30, across=2, wave=13, bend=42)
    clefts = above(-weave.strength, 1.15, 0.3)
    eosin = 0.4 + 0.22 * above(weave.strength, 0, 1) + 0.1 * threads.strength
    points = scatter(rng, size, 16, 0.45)
    points = points[(sample(mask, points) > 0.8) & (rng.random(len(points)) < 0.7)]
    along = sample(weave.direction, points) + rng.normal(0, 0.12, len(points))
    fibroblasts = Nuclei.at(rng, points, length=(11, 19), width=(2.4, 3.8), tone=(1.2, 1.9), angles=along)
    return Layer(0.1 * (1 - clefts), eosin * (1 - 0.85 * clefts), [fibroblasts], mask)


def muscle(rng: np.random.Generator, area: Area) -> Layer:
    """Straight deep-pink bundles, cigar-shaped nuclei along them."""
    mask, size = area.blob(), area.size
    angle = rng.uniform(0, np.pi)
    fine = fibres(rng, size, angle=angle, along=70, across=2.2, wave=4, bend=90)
    bundle = fibres(rng, size, angle=angle, along=120, across=11, wave=4, bend=90)
    seams = np.exp(-((bundle.strength / 0.1) ** 2))
    eosin = (0.86 + 0.1 * fine.strength + 0.08 * bundle.strength) * (1 - 0.45 * seams)
    points = scatter(rng, size, 17, 0.42)
    points = points[(sample(mask, points) > 0.8) & (rng.random(len(points)) < 0.7)]
    cigars = Nuclei.at(
        rng, points, length=(15, 23), width=(3.8, 5), tone=(0.9, 1.4), angles=sample(fine.direction, points),
        roughness=0.03, pallor=0.15,
    )  # fmt: skip
    return Layer(0.16 + 0.03 * fine.strength, eosin, [cigars], mask)


def debris(rng: np.random.Generator, area: Area) -> Layer:
    """Crumbling pink grains with cracks between the clumps and dust of broken nuclei."""
    mask, size = area.blob(), area.size
    clumps = smooth_noise(rng, size, 8) + 0.7 * smooth_noise(rng, size, 22)
    grain = smooth_noise(rng, size, 2.4)
    cracks = above(-clumps - 0.3 * grain, 0.85, 0.2)
    eosin = 0.5 + 0.1 * clumps + 0.22 * grain
    points = scatter(rng, size, 5.5, 0.5)
    dusty = rng.random(len(points)) < 0.25 + 0.35 * sample(smooth_noise(rng, size, 28), points)
    points = points[(sample(mask, points) > 0.6) & dusty]
    dust = Nuclei.at(rng, points, length=(1.4, 4.5), width=(1.3, 3), tone=(0.7, 1.9), roughness=0.15)
    haematoxylin = 0.15 + 0.08 * np.abs(grain)
    return Layer(haematoxylin * (1 - cracks), np.maximum(eosin, 0.04) * (1 - 0.85 * cracks), [dust], mask)
