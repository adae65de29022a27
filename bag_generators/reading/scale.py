"""How large a pixel is, as the file says it: OME and scanner descriptions, TIFF resolution, PNG pHYs, JPEG density.

Most programs write a resolution for screens or printers (72, 96, 300 dpi) that says nothing about tissue. So only
values that a microscope can have are believed; everything else counts as not said.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterator
from typing import NamedTuple

from bag_generators.reading.jpeg_segments import outline
from bag_generators.reading.png_chunks import chunks
from bag_generators.reading.tiff_pages import Directory

SMALLEST, LARGEST = 0.05, 5.0
"""µm per pixel: an oil objective on a fine camera, a scan for an overview. 300 dpi would be 85."""
MOST_DESCRIPTION_BYTES = 2**16

_MICRONS_PER_INCH = 25_400.0
_X_RESOLUTION, _Y_RESOLUTION, _UNIT, _DESCRIPTION = 282, 283, 296, 270
_RATIONAL = 5
_SIZE_IN_OME = re.compile(rb'PhysicalSize([XY])(Unit)?\s*=\s*"([^"<>]{1,24})"')
_APERIO = re.compile(rb"\bMPP\s*=\s*([0-9.]{1,12})")
_IMAGEJ_UNIT = re.compile(rb"^unit=(.{1,12})$", re.MULTILINE)
_MICRON = {b"\xc2\xb5m", b"\xce\xbcm", b"\xb5m", b"&#181;m", b"&#xb5;m", b"&micro;m", b"\\u00b5m"}
_MICRONS = dict.fromkeys({*_MICRON, b"um", b"micron", b"microns", b"micrometer"}, 1.0) | {
    b"nm": 1e-3,
    b"mm": 1e3,
    b"cm": 1e4,
    b"m": 1e6,
    b"inch": _MICRONS_PER_INCH,
}


class Scale(NamedTuple):
    """Micrometres per pixel, None where the file does not say, and in which part of the file they stand."""

    microns_per_pixel: float | None = None
    source: str = ""


def scale_of(kind: str, data: bytes, page: Directory | None) -> Scale:
    """The first plausible scale of a file whose parts have been counted already; `page` is the first of a TIFF."""
    if page is not None:
        said = _in_tiff(page)
    elif kind == "PNG":
        said = _in_png(data)
    else:
        said = _in_jpeg(data) if kind == "JPEG" else iter(())
    for source, across, down in said:
        if math.isclose(across, down, rel_tol=0.01) and SMALLEST <= across <= LARGEST:
            return Scale(across, source)
    return Scale()


def _in_tiff(page: Directory) -> Iterator[tuple[str, float, float]]:
    description = page.content(_DESCRIPTION, MOST_DESCRIPTION_BYTES) or b""
    sizes = {match[1] + (match[2] or b""): match[3] for match in _SIZE_IN_OME.finditer(_pixels_element(description))}
    across, down = (_number(sizes.get(axis)) * _microns(sizes.get(axis + b"Unit", b"um")) for axis in (b"X", b"Y"))
    yield "OME description", across, down
    if (match := _APERIO.search(description)) is not None:
        yield "scanner's description", _number(match[1]), _number(match[1])
    across, down = (_rational(page, tag) for tag in (_X_RESOLUTION, _Y_RESOLUTION))
    if across > 0 and down > 0:
        if description.startswith(b"ImageJ=") and (unit := _IMAGEJ_UNIT.search(description)) is not None:
            yield "ImageJ description", _microns(unit[1]) / across, _microns(unit[1]) / down
        length = {2: _MICRONS_PER_INCH, 3: 1e4}.get(page.number(_UNIT, 2), math.nan)
        yield "TIFF resolution", length / across, length / down


def _pixels_element(description: bytes) -> bytes:
    """The first opening tag that says how the pixels of an OME file lie."""
    start = description.find(b"Pixels ")
    return description[start : description.find(b">", start)] if start >= 0 else b""


def _rational(page: Directory, tag: int) -> float:
    entry = page.tags.get(tag)
    content = page.content(tag, 8) if entry is not None and entry.kind == _RATIONAL else None
    if content is None or len(content) < 8:
        return math.nan
    over, under = struct.unpack(page.order + "II", content)
    return over / under if under else math.nan


def _in_png(data: bytes) -> Iterator[tuple[str, float, float]]:
    for chunk in chunks(data):
        if chunk.name == b"IDAT":
            return
        if chunk.name == b"pHYs" and chunk.end - chunk.start == 9:
            across, down, unit = struct.unpack_from(">IIB", data, chunk.start)
            if unit == 1 and across and down:
                yield "PNG resolution (pHYs)", 1e6 / across, 1e6 / down
            return


def _in_jpeg(data: bytes) -> Iterator[tuple[str, float, float]]:
    for segment in outline(data).header:
        if segment.marker == 0xE0 and data.startswith(b"JFIF\0", segment.start + 2) and segment.end <= len(data):
            if segment.end - segment.start >= 14:
                unit, across, down = struct.unpack_from(">BHH", data, segment.start + 9)
                length = {1: _MICRONS_PER_INCH, 2: 1e4}.get(unit)
                if length is not None and across and down:
                    yield "JPEG density (JFIF)", length / across, length / down
            return


def _number(text: bytes | None) -> float:
    try:
        return float(text or b"nan")
    except ValueError:
        return math.nan


def _microns(unit: bytes) -> float:
    return _MICRONS.get(unit.strip().lower(), math.nan)
