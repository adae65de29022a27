"""A slide as Hamamatsu's NDPI: nearly a TIFF, with addresses of eight bytes and a JPEG for each level."""

import struct
from pathlib import Path

import numpy as np

from tests.bag_generators.slide import makers

_ASCII, _SHORT, _LONG, _RATIONAL, _SLONG, _FLOAT = 2, 3, 4, 5, 9, 11
_MACRO, _MAP = -1.0, -2.0


def write_ndpi(path: Path) -> Path:
    """Write two levels, the photograph of the glass with its label, and a map of where the tissue is."""
    whole = makers.pixels()
    content = bytearray(b"II*\0" + bytes(8))
    pointer = 4
    for lens, picture, shrunken in (
        (40.0, whole, 1),
        (20.0, whole[::2, ::2], 2),
        (_MACRO, makers.label(), 20),
        (_MAP, makers.label(), 20),
    ):
        jpeg = makers.jpeg(picture)
        start = len(content)
        content += jpeg + bytes(len(jpeg) % 2)
        struct.pack_into("<Q", content, pointer, len(content))
        pointer = _append_directory(content, _tags(picture, start, len(jpeg), lens, makers.MICRONS * shrunken))
    path.write_bytes(content)
    return path


def _tags(picture: np.ndarray, start: int, size: int, lens: float, microns: float) -> list[tuple[int, int, int, bytes]]:
    """Number, kind, count and content of each."""
    height, width = picture.shape[:2]
    reference = "\n".join(makers.SECRETS).encode() + b"\0"
    resolution = struct.pack("<II", round(1e7 / microns), 1000)
    return [
        (256, _LONG, 1, struct.pack("<I", width)),
        (257, _LONG, 1, struct.pack("<I", height)),
        (258, _SHORT, 3, struct.pack("<3H", 8, 8, 8)),
        (259, _SHORT, 1, struct.pack("<H", 7)),
        (262, _SHORT, 1, struct.pack("<H", 6)),
        (271, _ASCII, 10, b"Hamamatsu\0"),
        (273, _LONG, 1, struct.pack("<I", start)),
        (277, _SHORT, 1, struct.pack("<H", 3)),
        (278, _LONG, 1, struct.pack("<I", height)),
        (279, _LONG, 1, struct.pack("<I", size)),
        (282, _RATIONAL, 1, resolution),
        (283, _RATIONAL, 1, resolution),
        (296, _SHORT, 1, struct.pack("<H", 3)),
        (65420, _LONG, 1, struct.pack("<I", 1)),
        (65421, _FLOAT, 1, struct.pack("<f", lens)),
        (65422, _SLONG, 1, struct.pack("<i", 0)),
        (65423, _SLONG, 1, struct.pack("<i", 0)),
        (65424, _SLONG, 1, struct.pack("<i", 0)),
        (65427, _ASCII, len(reference), reference),
    ]


def _append_directory(content: bytearray, tags: list[tuple[int, int, int, bytes]]) -> int:
    """Write a directory behind the content; where it points to the next one."""
    start = len(content)
    values_at = start + 2 + 12 * len(tags) + 8 + 4 * len(tags)
    entries, values = struct.pack("<H", len(tags)), b""
    for tag, kind, count, packed in tags:
        entries += struct.pack("<HHI", tag, kind, count)
        if len(packed) <= 4:
            entries += packed.ljust(4, b"\0")
        else:
            entries += struct.pack("<I", values_at + len(values))
            values += packed + bytes(len(packed) % 2)
    content += entries + bytes(8) + bytes(4 * len(tags)) + values
    return start + len(entries)
