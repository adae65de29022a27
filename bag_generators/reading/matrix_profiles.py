"""Build a small ICC profile from what a PNG says about its colours: gamma, white point and primaries.

So there is one way only from foreign colours to sRGB, whether the file brings a profile or a few numbers.
"""

from __future__ import annotations

import struct

import numpy as np

Point = tuple[float, float]
"""Chromaticity x, y."""

D65: Point = (0.3127, 0.3290)
SRGB_PRIMARIES: tuple[Point, Point, Point] = ((0.64, 0.33), (0.30, 0.60), (0.15, 0.06))
P3_PRIMARIES: tuple[Point, Point, Point] = ((0.680, 0.320), (0.265, 0.690), (0.150, 0.060))

_D50 = np.array([0.96422, 1.0, 0.82521])
_BRADFORD = np.array([[0.8951, 0.2664, -0.1614], [-0.7502, 1.7135, 0.0367], [0.0389, -0.0685, 1.0296]])
_SRGB_CURVE = (2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045)


def matrix_profile(white: Point, primaries: tuple[Point, Point, Point], gamma: float | None) -> bytes:
    """An ICC profile (version 4) of three primaries; without `gamma` (such as 2.2) its curve is that of sRGB.

    Raises ValueError for points that span no colours.
    """
    try:
        columns = _to_d50(white) @ _rgb_to_xyz(white, primaries)
    except np.linalg.LinAlgError:
        raise ValueError("the primaries lie on one line") from None
    if not np.isfinite(columns).all() or np.abs(columns).max() > 16:
        raise ValueError("the primaries are no colours")
    curve = (0, (gamma,)) if gamma is not None else (3, _SRGB_CURVE)
    tone = b"para" + bytes(4) + struct.pack(">HH", curve[0], 0) + _fixed(*curve[1])
    tags = {b"wtpt": _xyz(_D50), b"rTRC": tone, b"gTRC": tone, b"bTRC": tone}
    tags |= {name: _xyz(column) for name, column in zip((b"rXYZ", b"gXYZ", b"bXYZ"), columns.T, strict=True)}
    return _packed(tags)


def _rgb_to_xyz(white: Point, primaries: tuple[Point, Point, Point]) -> np.ndarray:
    points = np.array([_tristimulus(point) for point in primaries]).T
    return np.asarray(points * np.linalg.solve(points, _tristimulus(white)))


def _to_d50(white: Point) -> np.ndarray:
    """Bradford's adaptation, which ICC profiles are written with."""
    scale = np.diag((_BRADFORD @ _D50) / (_BRADFORD @ _tristimulus(white)))
    return np.asarray(np.linalg.solve(_BRADFORD, scale @ _BRADFORD))


def _tristimulus(point: Point) -> np.ndarray:
    x, y = point
    if y <= 0:
        raise ValueError("a chromaticity without brightness")
    return np.array([x / y, 1.0, (1 - x - y) / y])


def _fixed(*values: float) -> bytes:
    return struct.pack(f">{len(values)}i", *(round(float(value) * 65536) for value in values))


def _xyz(values: np.ndarray) -> bytes:
    return b"XYZ " + bytes(4) + _fixed(*values)


def _packed(tags: dict[bytes, bytes]) -> bytes:
    offset = 128 + 4 + 12 * len(tags)
    table, body = struct.pack(">I", len(tags)), b""
    for name, content in tags.items():
        table += struct.pack(">4sII", name, offset + len(body), len(content))
        body += content + b"\0" * (-len(content) % 4)
    head = struct.pack(">I4sI4s4s4s", offset + len(body), bytes(4), 0x04300000, b"mntr", b"RGB ", b"XYZ ")
    head += bytes(12) + b"acsp" + bytes(28) + _fixed(*_D50)
    return head.ljust(128, b"\0") + table + body


SRGB_COLUMNS = _to_d50(D65) @ _rgb_to_xyz(D65, SRGB_PRIMARIES)
"""From the light of sRGB to XYZ, (3, 3): what an sRGB profile says of its primaries."""
