"""How large a pixel is, as the file says it: OME and scanner descriptions, TIFF resolution, PNG pHYs, JPEG density.

Most programs write a resolution for screens or printers (72, 96, 300 dpi) that says nothing about tissue. So only
values that a microscope can have are believed; everything else counts as not said.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from PIL import ImageFile

from bag_generators.reading.tiff import DESCRIPTION

SMALLEST, LARGEST = 0.05, 5.0
"""µm per pixel: an oil objective on a fine camera, a scan for an overview. 300 dpi would be 85."""
MOST_DESCRIPTION = 2**16

_MICRONS_PER_INCH = 25_400.0
_X_RESOLUTION, _Y_RESOLUTION, _UNIT = 282, 283, 296
_SIZE_IN_OME = re.compile(r'PhysicalSize([XY])(Unit)?\s*=\s*"([^"<>]{1,24})"')
_APERIO = re.compile(r"\bMPP\s*=\s*([0-9.]{1,12})")
_IMAGEJ_UNIT = re.compile(r"^unit=(.{1,12})$", re.MULTILINE)
_MICRON = {"µm", "\u03bcm", "&#181;m", "&#xb5;m", "&micro;m", "\\u00b5m", "um", "micron", "microns", "micrometer"}
_MICRONS = dict.fromkeys(_MICRON, 1.0) | {"nm": 1e-3, "mm": 1e3, "cm": 1e4, "m": 1e6, "inch": _MICRONS_PER_INCH}


class Scale(NamedTuple):
    """Micrometres per pixel, None where the file does not say, and in which part of the file they stand."""

    microns_per_pixel: float | None = None
    source: str = ""


def scale_of(picture: ImageFile.ImageFile) -> Scale:
    """The first plausible scale of an opened file."""
    for source, across, down in _said(picture):
        if math.isclose(across, down, rel_tol=0.01) and SMALLEST <= across <= LARGEST:
            return Scale(across, source)
    return Scale()


def _said(picture: ImageFile.ImageFile) -> Iterator[tuple[str, float, float]]:
    if picture.format == "TIFF":
        yield from _in_tiff(getattr(picture, "tag_v2", {}))
    elif picture.format == "PNG" and all(dpi := picture.info.get("dpi", (0, 0))):
        yield "PNG resolution (pHYs)", _MICRONS_PER_INCH / dpi[0], _MICRONS_PER_INCH / dpi[1]
    elif picture.format == "JPEG" and all(density := picture.info.get("jfif_density", (0, 0))):
        length = {1: _MICRONS_PER_INCH, 2: 1e4}.get(picture.info.get("jfif_unit", 0), math.nan)
        yield "JPEG density (JFIF)", length / density[0], length / density[1]


def _in_tiff(tags: Any) -> Iterator[tuple[str, float, float]]:
    description = _text(tags.get(DESCRIPTION, ""))[:MOST_DESCRIPTION]
    start = description.find("Pixels ")
    pixels = description[start : description.find(">", start)] if start >= 0 else ""
    sizes = {match[1] + (match[2] or ""): match[3] for match in _SIZE_IN_OME.finditer(pixels)}
    across, down = (_number(sizes.get(axis)) * _microns(sizes.get(axis + "Unit", "um")) for axis in "XY")
    yield "OME description", across, down
    if (match := _APERIO.search(description)) is not None:
        yield "scanner's description", _number(match[1]), _number(match[1])
    across, down = (_number(tags.get(tag)) for tag in (_X_RESOLUTION, _Y_RESOLUTION))
    if across > 0 and down > 0:
        if description.startswith("ImageJ=") and (unit := _IMAGEJ_UNIT.search(description)) is not None:
            yield "ImageJ description", _microns(unit[1]) / across, _microns(unit[1]) / down
        length = {2: _MICRONS_PER_INCH, 3: 1e4}.get(tags.get(_UNIT, 2), math.nan)
        yield "TIFF resolution", length / across, length / down


def _text(value: object) -> str:
    """A description as UTF-8, where it is; Pillow takes it for Latin letters."""
    content = value.encode("latin-1", "replace") if isinstance(value, str) else value
    return content.decode("utf-8", "replace") if isinstance(content, bytes) else ""


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, ZeroDivisionError, OverflowError):
        return math.nan


def _microns(unit: str) -> float:
    return _MICRONS.get(unit.strip().lower(), math.nan)
