"""What a phantom is painted from: nuclei, woven textures, the neutral background and the seven tissues.

Each tissue is a `Layer`. Concentrations are optical densities: eosin 0.2 is pale pink, 0.9 deep pink, haematoxylin 1.5
a dark nucleus. Sizes are in pixels at roughly 1 µm per pixel, so that several glands fit into a tile. Maps are float32
arrays of shape (size, size); whatever is random comes from the `rng` that is passed in.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import cv2
import numpy as np

_SUPERSAMPLING = 2  # nuclei are drawn this much larger and averaged down
_SHIFT = 4  # OpenCV takes vertices as integers with this many binary places
_VERTICES = 14
_FULL_SCALE = 3.0  # haematoxylin concentration of the canvas value 255


@dataclass(frozen=True, eq=False)
class Nuclei:
    """Nuclei to be drawn; every array has one entry per nucleus."""

    centres: np.ndarray  # (n, 2) x, y in px
    lengths: np.ndarray  # px
    widths: np.ndarray  # px
    angles: np.ndarray  # radians of the long axis
    tones: np.ndarray  # haematoxylin concentration
    phases: np.ndarray  # (n, 2) radians: where the uneven outline bulges
    roughness: float = 0.06  # relative deviation of the outline from an ellipse
    pallor: float = 0.0  # how much paler the inside is than the rim (vesicular nuclei), 0..1

    @classmethod
    def at(
        cls, rng: np.random.Generator, centres: np.ndarray, *, length: tuple[float, float],
        width: tuple[float, float], tone: tuple[float, float], angles: np.ndarray | None = None,
        roughness: float = 0.06, pallor: float = 0.0,
    ) -> Nuclei:  # fmt: skip
        """Nuclei at the given points with sizes and tones drawn uniformly from the given ranges."""
        n = len(centres)
        if angles is None:
            angles = rng.uniform(0, np.pi, n)
        lengths, widths, tones = (rng.uniform(*bounds, n) for bounds in (length, width, tone))
        phases = rng.uniform(0, 2 * np.pi, (n, 2))
        return cls(centres, lengths, widths, angles, tones, phases, roughness, pallor)

    def where(self, keep: np.ndarray) -> Nuclei:
        """Those for which the boolean array `keep` (n,) is true."""
        return replace(
            self, centres=self.centres[keep], lengths=self.lengths[keep], widths=self.widths[keep],
            angles=self.angles[keep], tones=self.tones[keep], phases=self.phases[keep],
        )  # fmt: skip

    def outlines(self) -> np.ndarray:
        """Polygons (n, vertices, 2): ellipses with an uneven edge."""
        turn = np.linspace(0, 2 * np.pi, _VERTICES, endpoint=False)
        two, three = self.phases.T[:, :, None]
        uneven = 1 + self.roughness * (np.sin(2 * turn + two) + np.sin(3 * turn + three))
        p = uneven * np.cos(turn) * self.lengths[:, None] / 2
        q = uneven * np.sin(turn) * self.widths[:, None] / 2
        cos, sin = np.cos(self.angles)[:, None], np.sin(self.angles)[:, None]
        return np.stack([p * cos - q * sin, p * sin + q * cos], axis=2) + self.centres[:, None, :]


def draw_nuclei(size: int, groups: list[Nuclei]) -> np.ndarray:
    """Haematoxylin concentration (size, size) of all nuclei; later ones lie on top of earlier ones."""
    side = size * _SUPERSAMPLING
    canvas = np.zeros((side, side), np.uint8)
    for nuclei in groups:
        vertices = (nuclei.outlines() + 0.5) * _SUPERSAMPLING - 0.5
        polygons = np.rint(vertices * 2**_SHIFT).astype(np.int32)
        rims = np.clip(np.rint(nuclei.tones * 255 / _FULL_SCALE), 0, 255).tolist()
        insides = np.clip(np.rint(nuclei.tones * (1 - nuclei.pallor) * 255 / _FULL_SCALE), 0, 255).tolist()
        for polygon, rim, inside in zip(polygons, rims, insides, strict=True):
            cv2.fillPoly(canvas, [polygon], inside, cv2.LINE_AA, _SHIFT)
            if nuclei.pallor:
                cv2.polylines(canvas, [polygon], True, rim, 1, cv2.LINE_AA, _SHIFT)
    blocks = canvas.reshape(size, _SUPERSAMPLING, size, _SUPERSAMPLING)
    return blocks.sum(axis=(1, 3), dtype=np.uint16) * np.float32(_FULL_SCALE / 255 / _SUPERSAMPLING**2)


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
    goblets = Nuclei.at(
        rng, points, length=(11, 17), width=(7.5, 11), tone=(1, 1), angles=outward, roughness=0
    ).where(filled)  # fmt: skip
    mucin = draw_nuclei(size, [goblets])  # pale holes: how much of each pixel they cover
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
