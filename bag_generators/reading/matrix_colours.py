"""From the colours of the simplest ICC profiles, three curves and a matrix, to sRGB in a fraction of the usual time.

The values are those of the colour library up to one step of 255, which is checked for every profile before use.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

import cv2
import numpy as np

from bag_generators.reading.matrix_profiles import SRGB_COLUMNS

_FINEST = 65535
_MOST_CURVE = 65536
_PARAMETERS = {0: 1, 3: 5}
"""How many numbers the formulas have that are read."""


def _srgb_values() -> np.ndarray:
    """The value of sRGB for every amount of light, (65536,) uint8."""
    light = np.arange(_FINEST + 1) / _FINEST
    values = np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)
    return np.rint(255 * values).astype(np.uint8)


_VALUES = _srgb_values().reshape(1, -1)


@dataclass(frozen=True, eq=False)
class MatrixColours:
    """A profile of three curves and a matrix."""

    curves: np.ndarray  # (1, 256, 3) uint16: the light of each value in 65,535 steps
    matrix: np.ndarray  # (3, 3) float32: from light to that of sRGB

    @classmethod
    def read(cls, content: bytes) -> MatrixColours | None:
        """What a profile whose list of tags was checked says; None where it is of another kind or can't be read."""
        (count,) = struct.unpack_from(">I", content, 128)
        entries = [struct.unpack_from(">4sII", content, 132 + 12 * i) for i in range(count)]
        tags = {name: content[offset : offset + size] for name, offset, size in entries}
        if any(name.startswith(b"A2B") for name in tags):
            return None
        try:
            curves = [_curve(tags[name]) for name in (b"rTRC", b"gTRC", b"bTRC")]
            columns = [struct.unpack_from(">3i", tags[name], 8) for name in (b"rXYZ", b"gXYZ", b"bXYZ")]
        except (KeyError, ValueError, struct.error):
            return None
        light = np.rint(_FINEST * np.stack(curves, axis=-1)[None]).astype(np.uint16)
        return cls(light, np.linalg.solve(SRGB_COLUMNS, np.array(columns).T / 65536).astype(np.float32))

    def to_srgb(self, pixels: np.ndarray) -> np.ndarray:
        """(H, W, 3) uint8 to the same in sRGB."""
        light = cv2.transform(cv2.LUT(pixels, self.curves), self.matrix)  # whole numbers; rounded, never beyond
        return np.asarray(cv2.LUT(light.reshape(1, -1), _VALUES)).reshape(pixels.shape)


def _curve(tag: bytes) -> np.ndarray:
    """The light of the values 0 to 255, each 0 to 1. Raises ValueError for what is no curve."""
    values = np.arange(256) / 255
    if tag[:4] == b"para":
        light = _formula(tag, values)
    elif tag[:4] == b"curv":
        (count,) = struct.unpack_from(">I", tag, 8)
        if count > _MOST_CURVE:
            raise ValueError("a curve of too many points")
        points = np.array(struct.unpack_from(f">{count}H", tag, 12), float)
        if count > 1:
            light = np.interp(values, np.linspace(0, 1, count), points / 65535)
        else:
            light = values if count == 0 else values ** (points[0] / 256)
    else:
        raise ValueError("no curve")
    if not np.isfinite(light).all():
        raise ValueError("a curve that leads nowhere")
    return np.asarray(np.clip(light, 0, 1))


def _formula(tag: bytes, x: np.ndarray) -> np.ndarray:
    """A power, or that of sRGB: (a·x + b)^g from x = d on, below a line. The others lift black and are rare."""
    (kind,) = struct.unpack_from(">H", tag, 8)
    if kind not in _PARAMETERS:
        raise ValueError("another formula")
    g, *rest = np.array(struct.unpack_from(f">{_PARAMETERS[kind]}i", tag, 12)) / 65536
    a, b, c, d = rest or (1.0, 0.0, 0.0, 0.0)
    with np.errstate(all="ignore"):
        return np.asarray(np.where(x >= d, np.power(np.maximum(a * x + b, 0), g), c * x))
