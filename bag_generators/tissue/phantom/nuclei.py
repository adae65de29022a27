"""Nuclei and other rounded shapes, drawn anti-aliased."""

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


def draw_ellipses(size: int, shapes: Nuclei) -> np.ndarray:
    """Coverage 0..1 (size, size) of plain ellipses, for vacuoles and other pale holes."""
    even = replace(shapes, roughness=0.0, pallor=0.0, tones=np.ones(len(shapes.tones)))
    return draw_nuclei(size, [even])
