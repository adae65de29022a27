"""From the colours a file was saved with to sRGB, which the models have learned from.

A profile is a stranger's file in the file: its size, the number of its tags and their kinds are checked first.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import cv2
import numpy as np
from PIL import Image, ImageCms

from bag_generators.reading.matrix_colours import MatrixColours
from bag_generators.reading.matrix_profiles import D65, P3_PRIMARIES, SRGB_PRIMARIES, matrix_profile
from bag_generators.reading.png_chunks import chunks

MOST_PROFILE_BYTES = 4 * 2**20
MOST_PROFILE_TAGS = 100
SMALLEST_CHANGE = 2
"""In steps of 255: a profile that changes no colour by more is sRGB under another name."""

CONVERTED = "The colours were converted to sRGB from the colour profile in the file."
UNUSED = "The colour profile in the file can't be used; the colours were taken for sRGB."

Convert = Callable[[Image.Image], Image.Image]
"""From a part of the picture in RGB, RGBA or (with a profile of printing colours) CMYK to RGB or RGBA in sRGB."""

_GRID = 17
_SAME_GAMMA, _SAME_POINT = 0.05, 0.005  # what other readers of PNG take for sRGB
# Two kinds of tag that can point many times to the same megabytes, each of which would be unpacked.
_ENDLESS_KINDS = (b"mpet", b"ncl2")
_P3, _BT709, _SRGB_CURVE = 12, 1, 13  # numbers of the standard H.273


@dataclass(frozen=True)
class Colours:
    """How to get to sRGB (both ways None: it is sRGB already), and what to say about it."""

    convert: Convert | None = None
    note: str | None = None
    inks: bool = False
    """The conversion starts from CMYK."""
    quick: Callable[[np.ndarray], np.ndarray] | None = None
    """The same for (H, W, 3) uint8 pixels in a fraction of the time, where the profile is simple enough."""

    @property
    def slow(self) -> bool:
        """Whether the colour library has to look up every pixel."""
        return self.convert is not None and self.quick is None


def colours_of(profile: bytes | None, mode: str) -> Colours:
    """For a picture of a Pillow mode that carries this ICC profile."""
    if profile is None:
        return Colours()
    try:
        return _colours(profile, mode)
    except (ImageCms.PyCMSError, OSError, ValueError, TypeError, struct.error):
        return Colours(note=UNUSED)


def png_colours(data: bytes, info: dict[Any, Any], mode: str) -> Colours:
    """For a PNG, which may say it in four ways; the first of them counts."""
    coded = next((data[chunk.start : chunk.end] for chunk in chunks(data) if chunk.name == b"cICP"), None)
    if coded is not None:
        return _coded_colours(coded, mode)
    if "icc_profile" in info:
        return colours_of(info["icc_profile"] or b"", mode)
    if "srgb" in info or not info.keys() & {"gamma", "chromaticity"}:
        return Colours()
    gamma, points = float(info.get("gamma", 1 / 2.2)), info.get("chromaticity")
    if not 0.1 <= gamma <= 10:
        return Colours(note=UNUSED)
    white, *primaries = list(zip(points[::2], points[1::2], strict=True)) if points else (D65, *SRGB_PRIMARIES)
    own, known = np.array([white, *primaries]), np.array([D65, *SRGB_PRIMARIES])
    usual = abs(gamma * 2.2 - 1) < _SAME_GAMMA
    if usual and np.abs(own - known).max() < _SAME_POINT:
        return Colours()
    try:
        red, green, blue = primaries
        return colours_of(matrix_profile(white, (red, green, blue), None if usual else 1 / gamma), mode)
    except ValueError:
        return Colours(note=UNUSED)


@cache
def lab_to_srgb() -> ImageCms.ImageCmsTransform:
    """For pictures of Lab values, made once: Pillow would build it again for every band."""
    lab, srgb = ImageCms.createProfile("LAB"), ImageCms.createProfile("sRGB")
    return ImageCms.buildTransform(lab, srgb, "LAB", "RGB")


def bmp_profile(data: bytes) -> bytes | None:
    """The profile embedded in a BMP of the newest kind (124 bytes of header), None in all others."""
    if len(data) < 138 or struct.unpack_from("<I", data, 14)[0] < 124 or data[70:74] != b"DEBM":
        return None
    start, size = struct.unpack_from("<II", data, 126)
    return data[14 + start : 14 + start + size]


def _coded_colours(content: bytes, mode: str) -> Colours:
    primaries = {_BT709: SRGB_PRIMARIES, _P3: P3_PRIMARIES}.get(content[0]) if len(content) == 4 else None
    if primaries is None or content[1] != _SRGB_CURVE:
        return Colours(note=UNUSED)
    return colours_of(matrix_profile(D65, primaries, None), mode)


def _colours(content: bytes, mode: str) -> Colours:
    _check(content)
    profile = ImageCms.ImageCmsProfile(io.BytesIO(content))
    space = profile.profile.xcolor_space.strip()
    if space == "RGB" and mode not in ("CMYK", "LAB"):
        whole, transparent = _transform(profile, "RGB", "RGB"), _transform(profile, "RGBA", "RGBA")
        spread = _spread_colours()
        converted = np.asarray(whole.apply(Image.fromarray(spread)))
        if _largest_difference(converted, spread) <= SMALLEST_CHANGE:
            return Colours()
        simple = MatrixColours.read(content)
        agrees = simple is not None and _largest_difference(simple.to_srgb(spread), converted) <= 1
        return Colours(
            lambda part: (transparent if part.mode == "RGBA" else whole).apply(part),
            CONVERTED,
            quick=simple.to_srgb if simple is not None and agrees else None,
        )
    if space == "GRAY" and mode in ("1", "L", "LA", "La"):
        ramp = Image.frombytes("L", (256, 1), bytes(range(256)))
        table = np.asarray(_transform(profile, "L", "RGB").apply(ramp).getchannel("G"))
        if _largest_difference(table, np.arange(256)) <= SMALLEST_CHANGE:
            return Colours()
        return Colours(note=CONVERTED, quick=lambda pixels: np.asarray(cv2.LUT(pixels, table)))
    if space == "CMYK" and mode == "CMYK":
        return Colours(_transform(profile, "CMYK", "RGB").apply, CONVERTED, inks=True)
    return Colours(note=UNUSED)


def _check(content: bytes) -> None:
    """Refuse what is no profile, is too large, or is made to unpack without end."""
    if not 132 <= len(content) <= MOST_PROFILE_BYTES:
        raise ValueError("a profile of no usual size")
    (tags,) = struct.unpack_from(">I", content, 128)
    if tags > MOST_PROFILE_TAGS:
        raise ValueError("too many tags")
    for i in range(tags):
        _, offset, _ = struct.unpack_from(">4sII", content, 132 + 12 * i)
        if content[offset : offset + 4] in _ENDLESS_KINDS:
            raise ValueError("a kind of tag that is not read")


def _transform(profile: ImageCms.ImageCmsProfile, before: str, after: str) -> ImageCms.ImageCmsTransform:
    return ImageCms.buildTransform(
        profile,
        ImageCms.createProfile("sRGB"),
        before,
        after,
        ImageCms.Intent.RELATIVE_COLORIMETRIC,
        ImageCms.Flags.BLACKPOINTCOMPENSATION,
    )


def _spread_colours() -> np.ndarray:
    """Colours spread evenly, (17, 289, 3) uint8; most sRGB profiles are copies of copies, which no sum would know."""
    steps = np.linspace(0, 255, _GRID).round().astype(np.uint8)
    return np.stack(np.meshgrid(steps, steps, steps, indexing="ij"), axis=-1).reshape(_GRID, _GRID**2, 3)


def _largest_difference(one: np.ndarray, other: np.ndarray) -> int:
    return int(np.abs(one.astype(int) - other).max())
