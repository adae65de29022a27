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

MOST_PROFILE_BYTES = 4 * 2**20
MOST_PROFILE_TAGS = 100
SMALLEST_CHANGE = 2
"""In steps of 255: a profile that changes no colour by more is sRGB under another name."""

CONVERTED = "The colours were converted to sRGB from the colour profile in the file."
UNUSED = "The colour profile in the file can't be used; the colours were taken for sRGB."
NO_PROFILE = "The file describes its colours without a colour profile; they were taken for sRGB."

_GRID = 17
_SAME_GAMMA, _SAME_POINT = 0.05, 0.005  # what other readers of PNG take for sRGB
_SRGB_POINTS = (0.3127, 0.3290, 0.64, 0.33, 0.30, 0.60, 0.15, 0.06)  # white, red, green, blue
_SRGB_CODE = bytes([1, 13])  # numbers of the standard H.273
# Two kinds of tag that can point many times to the same megabytes, each of which would be unpacked.
_ENDLESS_KINDS = (b"mpet", b"ncl2")


@dataclass(frozen=True)
class Colours:
    """How to get to sRGB (both ways None: it is sRGB already), and what to say about it."""

    convert: Callable[[np.ndarray], np.ndarray] | None = None
    """For (H, W, 3) uint8 pixels."""
    from_inks: Callable[[Image.Image], Image.Image] | None = None
    """For a part of the picture in CMYK."""
    note: str | None = None


def colours_of(profile: bytes | None, mode: str) -> Colours:
    """For a picture of a Pillow mode that carries this ICC profile."""
    if profile is None:
        return Colours()
    try:
        return _colours(profile, mode)
    except (ImageCms.PyCMSError, OSError, ValueError, TypeError, struct.error):
        return Colours(note=UNUSED)


def png_colours(coded: bytes, info: dict[Any, Any], mode: str) -> Colours:
    """For a PNG, which may also say it by a code (cICP), gamma or primaries; these are not converted but said."""
    if "icc_profile" in info:
        return colours_of(info["icc_profile"] or b"", mode)
    if coded:
        usual = coded.startswith(_SRGB_CODE)
    else:
        points = np.abs(np.subtract(info.get("chromaticity", _SRGB_POINTS), _SRGB_POINTS))
        usual = abs(info.get("gamma", 1 / 2.2) * 2.2 - 1) < _SAME_GAMMA and points.max() < _SAME_POINT
    return Colours(note=None if usual or ("srgb" in info and not coded) else NO_PROFILE)


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


def _colours(content: bytes, mode: str) -> Colours:
    _check(content)
    profile = ImageCms.ImageCmsProfile(io.BytesIO(content))
    space = profile.profile.xcolor_space.strip()
    if space == "RGB" and mode not in ("CMYK", "LAB"):
        transform = _transform(profile, "RGB")
        spread = _spread_colours()
        convert = lambda pixels: np.asarray(transform.apply(Image.fromarray(pixels)))  # noqa: E731
        changes = _largest_difference(convert(spread), spread) > SMALLEST_CHANGE
        return Colours(convert, note=CONVERTED) if changes else Colours()
    if space == "GRAY" and mode in ("1", "L", "LA", "La"):
        ramp = Image.frombytes("L", (256, 1), bytes(range(256)))
        table = np.asarray(_transform(profile, "L").apply(ramp).getchannel("G"))
        changes = _largest_difference(table, np.arange(256)) > SMALLEST_CHANGE
        return Colours(lambda pixels: np.asarray(cv2.LUT(pixels, table)), note=CONVERTED) if changes else Colours()
    if space == "CMYK" and mode == "CMYK":
        return Colours(from_inks=_transform(profile, "CMYK").apply, note=CONVERTED)
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


def _transform(profile: ImageCms.ImageCmsProfile, before: str) -> ImageCms.ImageCmsTransform:
    intent, flags = ImageCms.Intent.RELATIVE_COLORIMETRIC, ImageCms.Flags.BLACKPOINTCOMPENSATION
    return ImageCms.buildTransform(profile, ImageCms.createProfile("sRGB"), before, "RGB", intent, flags)


def _spread_colours() -> np.ndarray:
    """Colours spread evenly, (17, 289, 3) uint8; most sRGB profiles are copies of copies, which no sum would know."""
    steps = np.linspace(0, 255, _GRID).round().astype(np.uint8)
    return np.stack(np.meshgrid(steps, steps, steps, indexing="ij"), axis=-1).reshape(_GRID, _GRID**2, 3)


def _largest_difference(one: np.ndarray, other: np.ndarray) -> int:
    return int(np.abs(one.astype(int) - other).max())
