"""What phantom tissue is woven from: smooth noise, soft edges, wavy fibres and scattered points.

Every map is a float32 array of shape (size, size); whatever is random comes from the `rng` that is passed in.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

_FINE = 6.0  # px
_EDGE = 2.5  # px over which one tissue passes into another


def coordinates(size: int) -> tuple[np.ndarray, np.ndarray]:
    """x and y of every pixel, each (size, size)."""
    y, x = np.mgrid[0:size, 0:size].astype(np.float32)
    return x, y


def smooth_noise(rng: np.random.Generator, size: int, scale: float) -> np.ndarray:
    """Noise with mean about 0 and deviation about .7 whose bumps are about `scale` px wide."""
    if scale < _FINE:  # at this size the cells of an interpolated grid would show
        noise = cv2.GaussianBlur(rng.standard_normal((size, size), dtype=np.float32), (0, 0), scale / 2.5)
        return noise * np.float32(0.7 / noise.std())
    cells = int(np.ceil(size / scale)) + 3
    grid = rng.standard_normal((cells, cells), dtype=np.float32)
    reach = max(1, round(size * cells / (size / scale + 2)))
    return cv2.resize(grid, (reach, reach), interpolation=cv2.INTER_CUBIC)[:size, :size]


def above(field: np.ndarray, level: float, softness: float) -> np.ndarray:
    """1 where `field` exceeds `level`, 0 below, with a ramp of half-width `softness` (field units)."""
    return np.clip(0.5 + (field - level) / (2 * softness), 0, 1)


def soft_share(field: np.ndarray, share: float) -> np.ndarray:
    """Mask 0..1 of the `share` of pixels with the highest values, its edge about `_EDGE` px wide."""
    level = np.float32(np.quantile(field, 1 - share))
    rise_y, rise_x = np.gradient(field)
    steepness = np.sqrt(rise_x**2 + rise_y**2) + np.float32(1e-6)
    return np.clip(0.5 + (field - level) / (_EDGE * steepness), 0, 1)


@dataclass(frozen=True, eq=False)
class Fibres:
    """A woven texture: `strength` (about −2..2) varies fast across the fibres and slowly along them."""

    strength: np.ndarray
    direction: np.ndarray  # radians of the local fibre, x right and y down


def fibres(
    rng: np.random.Generator, size: int, *, angle: float,
    along: float, across: float, wave: float, bend: float,
) -> Fibres:  # fmt: skip
    """Fibres about `along` px long and `across` px thick that swing by `wave` px over about `bend` px."""
    x, y = coordinates(size)
    offset = np.float32(-np.sin(angle)) * x + np.float32(np.cos(angle)) * y
    offset += np.float32(wave) * smooth_noise(rng, size, bend)
    progress = np.float32(np.cos(angle)) * x + np.float32(np.sin(angle)) * y
    texture = rng.standard_normal((256, 256), dtype=np.float32)
    strength = cv2.remap(
        texture, progress / along + 128, offset / across + 128, cv2.INTER_CUBIC, borderMode=cv2.BORDER_WRAP
    )
    rise_y, rise_x = np.gradient(offset)
    return Fibres(strength, np.arctan2(-rise_x, rise_y))


def scatter(rng: np.random.Generator, size: int, spacing: float, jitter: float) -> np.ndarray:
    """Points (n, 2) as x, y: a hexagonal lattice, each point moved by up to `jitter` spacings."""
    rows = np.arange(-spacing, size + spacing, spacing * 0.866)
    columns = np.arange(-spacing, size + spacing, float(spacing))
    x, y = np.meshgrid(columns, rows)
    x[1::2] += spacing / 2
    points = np.stack([x.ravel(), y.ravel()], axis=1) + rng.uniform(-spacing, spacing, 2) / 2
    return points + rng.uniform(-jitter, jitter, points.shape) * spacing


def sample(field: np.ndarray, points: np.ndarray) -> np.ndarray:
    """The field's value at the pixel nearest to each point (n, 2); points outside take that of the border."""
    columns, rows = np.clip(np.rint(points), 0, field.shape[0] - 1).astype(np.intp).T
    return field[rows, columns]
