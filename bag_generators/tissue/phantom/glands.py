"""Tissues made of glands: tumour and normal mucosa."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bag_generators.tissue.phantom.nuclei import Nuclei, draw_ellipses
from bag_generators.tissue.phantom.shapes import above, coordinates, sample, scatter, smooth_noise, soft_share
from bag_generators.tissue.phantom.tissues import Area, Layer


def tumour(rng: np.random.Generator, area: Area) -> Layer:
    """Crowded irregular glands: large pleomorphic nuclei in several rows, ragged lumina with shed cells."""
    glands = _glands(rng, area, radius=40, irregularity=0.2, gap=0.05)
    size = area.size
    ragged = glands.depth + 0.1 * smooth_noise(rng, size, 9)
    lumen = above(-ragged, -0.36, 0.03)
    cytoplasm = smooth_noise(rng, size, 4) + smooth_noise(rng, size, 14)
    points = scatter(rng, size, 11, 0.4)
    depths = sample(ragged, points)
    points = points[(depths > 0.5) & (sample(glands.depth, points) < 0.92) & (rng.random(len(points)) < 0.93)]
    outward = sample(glands.outward, points) + rng.normal(0, 0.4, len(points))
    dark_ones = rng.random(len(points)) < 0.25
    vesicular = Nuclei.at(
        rng, points, length=(9, 15), width=(6.5, 9.5), tone=(1.1, 1.7), angles=outward,
        roughness=0.09, pallor=0.4,
    )  # fmt: skip
    dark = Nuclei.at(rng, points, length=(9, 19), width=(6, 11), tone=(1.5, 2.2), angles=outward, roughness=0.14)
    nucleoli = Nuclei.at(
        rng, points + rng.normal(0, 0.9, points.shape), length=(1.8, 3), width=(1.8, 2.6), tone=(1.6, 2.1)
    )
    shed = scatter(rng, size, 6, 0.5)
    shed = shed[(sample(ragged, shed) < 0.25) & (rng.random(len(shed)) < 0.4)]
    specks = Nuclei.at(rng, shed, length=(1.5, 5), width=(1.5, 3.5), tone=(0.6, 1.6))
    inside = 1 - lumen
    secretion = 0.05 + 0.3 * above(smooth_noise(rng, size, 6), 0.3, 0.4)
    return Layer(
        inside * (0.3 + 0.05 * cytoplasm) + lumen * 0.02,
        inside * (0.46 + 0.06 * cytoplasm) + lumen * secretion,
        [vesicular.where(~dark_ones), nucleoli.where(~dark_ones), dark.where(dark_ones), specks],
        glands.mask,
    )


def normal_mucosa(rng: np.random.Generator, area: Area) -> Layer:
    """Round crypts: one row of nuclei at the base, goblet cells around a narrow lumen."""
    glands = _glands(rng, area, radius=36, irregularity=0.07, gap=0.12)
    size = area.size
    points, outward = _rings(rng, glands, depth=0.86, spacing=6.4)
    basal = Nuclei.at(rng, points, length=(7, 9), width=(4.2, 5.4), tone=(1.0, 1.5), angles=outward, pallor=0.15)
    points, outward = _rings(rng, glands, depth=0.5, spacing=11.5)
    filled = rng.random(len(points)) < 0.88
    goblets = Nuclei.at(rng, points, length=(11, 17), width=(7.5, 11), tone=(1, 1), angles=outward).where(filled)
    mucin = draw_ellipses(size, goblets)
    lumen = above(-glands.depth - 0.05 * smooth_noise(rng, size, 8), -0.17, 0.04)
    pale = np.maximum(mucin * 0.94, lumen)
    grain = smooth_noise(rng, size, 3) + smooth_noise(rng, size, 12)
    return Layer(
        (0.2 + 0.03 * grain) * (1 - pale) + 0.06 * mucin * (1 + 0.5 * grain),
        (0.47 + 0.05 * grain) * (1 - pale) + 0.025 * mucin,
        [basal],
        glands.mask,
    )


@dataclass(frozen=True, eq=False)
class _Glands:
    centres: np.ndarray  # (n, 2)
    depth: np.ndarray  # (size, size): 0 in the middle of a gland, 1 on its outline
    outward: np.ndarray  # (size, size): direction away from the middle of the nearest gland, radians
    mask: np.ndarray
    reach: np.ndarray  # (n, 360): outline radius in px at every degree


def _glands(rng: np.random.Generator, area: Area, *, radius: float, irregularity: float, gap: float) -> _Glands:
    """Glands of about `radius` px, kept `gap` radii apart, at the spots where `place` wants the class most.

    They grow together until they cover exactly `area.coverage`; where two meet, both stop.
    """
    size = area.size
    spots = scatter(rng, size, 2 * radius * (1 + gap), 0.06)
    peak = np.array(np.unravel_index(area.field.argmax(), area.field.shape))[::-1]
    spots += peak - spots[np.linalg.norm(spots - peak, axis=1).argmin()]  # however small the tile, one lies inside
    spots = spots[((spots > -0.3 * radius) & (spots < size + 0.3 * radius)).all(axis=1)]
    wanted = max(1, round(area.coverage * size**2 / (np.pi * radius**2)))
    centres = spots[np.argsort(-sample(area.field, spots), kind="stable")[:wanted]]
    turn = np.deg2rad(np.arange(360))
    reach = np.ones((len(centres), 360))
    for waves in (2, 3, 4, 5):
        phase = rng.uniform(0, 2 * np.pi, (len(centres), 1))
        height = irregularity * rng.uniform(0.3, 1, (len(centres), 1)) * 2 / waves
        reach += height * np.cos(waves * turn + phase)
    reach = radius * np.clip(reach, 0.45, 1.8)

    x, y = coordinates(size)
    nearest = np.full((size, size), np.inf, np.float32)
    second = np.full((size, size), np.inf, np.float32)
    outward = np.zeros((size, size), np.float32)
    for (cx, cy), profile in zip(centres.astype(np.float32), reach.astype(np.float32), strict=True):
        direction = np.arctan2(y - cy, x - cx)
        degree = np.rad2deg(direction).astype(np.intp)
        relative = np.hypot(x - cx, y - cy) / profile[degree]
        closer = relative < nearest
        second = np.where(closer, nearest, np.minimum(second, relative))
        nearest = np.where(closer, relative, nearest)
        outward = np.where(closer, direction, outward)
    depth = np.maximum(nearest, (1 + gap) * nearest / second)
    limit = np.float32(np.quantile(depth, area.coverage))
    return _Glands(centres, depth / limit, outward, soft_share(-depth, area.coverage), reach * limit)


def _rings(rng: np.random.Generator, glands: _Glands, depth: float, spacing: float) -> tuple[np.ndarray, np.ndarray]:
    """Points (n, 2) around each gland at this depth, about `spacing` px apart, and their outward angles."""
    points, directions = [], []
    for centre, reach in zip(glands.centres, glands.reach, strict=True):
        n = max(3, round(2 * np.pi * depth * reach.mean() / spacing))
        turn = (np.arange(n) + rng.uniform(0, 1) + rng.uniform(-0.2, 0.2, n)) * 2 * np.pi / n
        radius = depth * reach[np.rad2deg(turn).astype(np.intp) % 360] * rng.uniform(0.96, 1.03, n)
        points.append(centre + radius[:, None] * np.stack([np.cos(turn), np.sin(turn)], axis=1))
        directions.append(turn)
    return np.concatenate(points), np.concatenate(directions)
