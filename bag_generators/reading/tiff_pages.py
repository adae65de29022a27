"""Walk the pages of a TIFF without reading what is in them.

A TIFF is a chain of directories, one a page; each is a list of entries (tag, type, count, value). Pillow reads
everything a directory points at, which a hostile file can make minutes of work of.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Directory:
    """One page: where its entries lie in the file."""

    data: bytes
    order: str
    big: bool
    start: int
    """Of the first entry."""
    entries: int

    def counts(self) -> dict[int, int]:
        """How many values each tag has."""
        size, form = (20, f"{self.order}HHQ") if self.big else (12, f"{self.order}HHI")
        found = {}
        for i in range(self.entries):
            tag, _, count = struct.unpack_from(form, self.data, self.start + size * i)
            found[tag] = count
        return found


def directories(data: bytes) -> Iterator[Directory]:
    """The pages of a TIFF or BigTIFF in order, each once; the walk ends where the chain ends or leaves the file."""
    order = "<" if data[:2] == b"II" else ">"
    big = 43 in data[2:4]
    number, place, entry, first = ("Q", "Q", 20, 8) if big else ("H", "I", 12, 4)
    seen: set[int] = set()
    try:
        (position,) = struct.unpack_from(order + place, data, first)
        while position and position not in seen:
            seen.add(position)
            (entries,) = struct.unpack_from(order + number, data, position)
            start = position + struct.calcsize(order + number)
            if start + entry * entries > len(data):
                return
            yield Directory(data, order, big, start, entries)
            (position,) = struct.unpack_from(order + place, data, start + entry * entries)
    except (struct.error, OverflowError):  # beyond the end of the file
        return
