"""Which way is up, by the camera data of a picture: one small number, and nothing else of them is read."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from typing import Any

import cv2
import numpy as np

MOST_EXIF_ENTRIES = 4_096
MOST_XMP_BYTES = 2**20

TAG = 274
_SHAPES = {1: "B", 3: "H", 4: "I"}
_IN_XMP = re.compile(rb'tiff:Orientation(?:="|>)([0-9])')
_UPRIGHT: dict[int, Callable[[np.ndarray], Any]] = {  # OpenCV turns several times as fast as NumPy copies
    2: lambda p: cv2.flip(p, 1),
    3: lambda p: cv2.flip(p, -1),
    4: lambda p: cv2.flip(p, 0),
    5: cv2.transpose,
    6: lambda p: cv2.rotate(p, cv2.ROTATE_90_CLOCKWISE),
    7: lambda p: cv2.flip(cv2.transpose(p), -1),
    8: lambda p: cv2.rotate(p, cv2.ROTATE_90_COUNTERCLOCKWISE),
}


def turned_upright(pixels: np.ndarray, orientation: int) -> np.ndarray:
    """(H, W, 3) pixels as a person should see them."""
    return np.asarray(_UPRIGHT[orientation](pixels)) if orientation in _UPRIGHT else pixels


def orientation_of(exif: bytes | None, xmp: bytes | str | None = None) -> int:
    """1 (upright) to 8; EXIF comes before XMP, and what can't be read says nothing."""
    found = _in_exif(exif) if exif else None
    if found is None and xmp:
        packet = xmp[:MOST_XMP_BYTES]
        match = _IN_XMP.search(packet.encode("utf-8", "replace") if isinstance(packet, str) else packet)
        found = int(match[1]) if match else None
    return found if found in _UPRIGHT else 1


def from_hexadecimal(text: str) -> bytes | None:
    """Camera data that some programs write as text into a PNG: three lines of heading, then digits."""
    digits = "".join(text[: 4 * MOST_EXIF_ENTRIES * 12].split("\n")[3:])
    try:
        return bytes.fromhex(digits)
    except ValueError:
        return None


def _in_exif(exif: bytes) -> int | None:
    """The tag in the first directory of a small TIFF; entries are read only as far as they are there."""
    data = exif[6:] if exif.startswith(b"Exif\0\0") else exif
    order = {b"II": "<", b"MM": ">"}.get(data[:2])
    if order is None:
        return None
    try:
        (first,) = struct.unpack_from(order + "I", data, 4)
        (entries,) = struct.unpack_from(order + "H", data, first)
        for i in range(min(entries, MOST_EXIF_ENTRIES)):
            tag, kind, count = struct.unpack_from(order + "HHI", data, first + 2 + 12 * i)
            if tag == TAG:
                shape = _SHAPES.get(kind) if count == 1 else None
                return int(struct.unpack_from(order + shape, data, first + 10 + 12 * i)[0]) if shape else None
    except struct.error:  # it breaks off
        return None
    return None
