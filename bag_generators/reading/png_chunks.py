"""Walk the chunks of a PNG without reading what is in them."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from typing import NamedTuple

_FIRST_CHUNK = 8
_HEAD = struct.Struct(">I4s")


class Chunk(NamedTuple):
    """One chunk: its name and where its content lies in the file."""

    name: bytes
    start: int
    end: int
    """The four bytes of the check sum follow."""


def chunks(data: bytes) -> Iterator[Chunk]:
    """The chunks up to the first that ends the picture or begins beyond the end of the file; lengths are believed."""
    position = _FIRST_CHUNK
    while position + _HEAD.size <= len(data):
        length, name = _HEAD.unpack_from(data, position)
        start = position + _HEAD.size
        yield Chunk(name, start, start + length)
        if name == b"IEND":
            return
        position = start + length + 4


def check_sums(data: bytes) -> None:
    """Pillow skips the check sums of the pixel data, so that a flipped byte would pass as other pixels."""
    chunk = None
    for chunk in chunks(data):
        (expected,) = struct.unpack_from(">I", data, chunk.end)
        if zlib.crc32(memoryview(data)[chunk.start - 4 : chunk.end]) != expected:
            raise OSError("check sum differs")
    if chunk is None or chunk.name != b"IEND":
        raise OSError("no end")
