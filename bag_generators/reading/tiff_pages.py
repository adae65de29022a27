"""Walk the pages of a TIFF without reading what is in them.

A TIFF is a chain of directories, one a page; each is a list of entries (tag, type, count, value). Pillow reads
everything a directory points at, which a hostile file can make minutes of work of.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

_WHOLE_NUMBERS = {1: "u1", 3: "u2", 4: "u4", 6: "i1", 8: "i2", 9: "i4", 13: "u4", 16: "u8", 17: "i8", 18: "u8"}
_SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4, 16: 8, 17: 8, 18: 8}


@dataclass(frozen=True)
class Entry:
    """One tag: the type and number of its values, and where the entry lies in the file."""

    kind: int
    count: int
    start: int


@dataclass(frozen=True)
class Directory:
    """One page: where its entries lie in the file."""

    data: bytes
    order: str
    big: bool
    start: int
    """Of the first entry."""
    entries: int

    @property
    def entry_size(self) -> int:
        return 20 if self.big else 12

    @cached_property
    def tags(self) -> dict[int, Entry]:
        """Each tag's entry; of a tag that comes twice the first, as all readers take it."""
        form = f"{self.order}HHQ" if self.big else f"{self.order}HHI"
        found: dict[int, Entry] = {}
        for i in range(self.entries):
            start = self.start + self.entry_size * i
            tag, kind, count = struct.unpack_from(form, self.data, start)
            found.setdefault(tag, Entry(kind, count, start))
        return found

    def content(self, tag: int, most: int) -> bytes | None:
        """The bytes of a tag's values, at most `most`; None where the tag is missing or points outside the file."""
        entry = self.tags.get(tag)
        if entry is None or entry.kind not in _SIZES:
            return None
        size = entry.count * _SIZES[entry.kind]
        value = entry.start + self.entry_size - (8 if self.big else 4)
        if size > (8 if self.big else 4):
            (value,) = struct.unpack_from(self.order + ("Q" if self.big else "I"), self.data, value)
        return self.data[value : value + min(size, most)] if value + size <= len(self.data) else None

    def numbers(self, tag: int, most: int) -> np.ndarray | None:
        """The whole numbers of a tag, at most `most`; None where there are none."""
        entry = self.tags.get(tag)
        if entry is None or entry.kind not in _WHOLE_NUMBERS:
            return None
        content = self.content(tag, most * _SIZES[entry.kind])
        return None if content is None else np.frombuffer(content, self.order + _WHOLE_NUMBERS[entry.kind])

    def number(self, tag: int, default: int) -> int:
        """The first whole number of a tag, or what the format says where it is missing."""
        found = self.numbers(tag, 1)
        return default if found is None or not len(found) else int(found[0])


def directories(data: bytes) -> Iterator[Directory]:
    """The pages of a TIFF or BigTIFF in order, each once; the walk ends where the chain ends or leaves the file."""
    order = "<" if data[:2] == b"II" else ">"
    big = 43 in data[2:4]
    number, offset, entry, first = ("Q", "Q", 20, 8) if big else ("H", "I", 12, 4)
    seen: set[int] = set()
    try:
        (position,) = struct.unpack_from(order + offset, data, first)
        while position and position not in seen:
            seen.add(position)
            (entries,) = struct.unpack_from(order + number, data, position)
            start = position + struct.calcsize(order + number)
            if start + entry * entries > len(data):
                return
            yield Directory(data, order, big, start, entries)
            (position,) = struct.unpack_from(order + offset, data, start + entry * entries)
    except (struct.error, OverflowError):  # beyond the end of the file
        return
