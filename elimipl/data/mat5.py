"""Read numbers and cell arrays from a MATLAB file of version 5 (what MATLAB's `-v6` and `-v7` write).

SciPy's reader can end the whole program on a damaged file (it follows lengths in compiled code); this one checks
every length against what is there. It knows what bag files need: tables of real numbers, and cells that hold them.

A file is a header of 128 bytes and a row of elements. An element is a tag (type, bytes) with its data, or, when
the data has at most four bytes, both in one word. A variable is an element of elements: flags (class, complex),
dimensions, name, then its numbers or, for a cell array, one such element a cell.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np

from bag_generators.formats import LEAST_MAT_BYTES, MOST_MAT_BYTES, MOST_MAT_CELLS, MOST_MAT_GROWTH

_HEADER, _TAG = 128, 8
_HEAD = 4096  # of a packed variable: enough for its flags, dimensions and name
_MATRIX, _COMPRESSED = 14, 15
_STORED = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
_CELLS = 1
_CLASSES = {6: "f8", 7: "f4", 8: "i1", 9: "u1", 10: "i2", 11: "u2", 12: "i4", 13: "u4", 14: "i8", 15: "u8"}
_COMPLEX = 0x0800
_DEEPEST = 4  # cells in cells


class DamagedError(ValueError):
    """The bytes are not what the format promises."""


class TooLargeError(ValueError):
    """The file unpacks to more than it may; the text says to what."""


@dataclass
class _Budget:
    """How many more cells may be made: an empty one takes 8 bytes in the file and twenty times that in memory."""

    cells: int

    def take(self, count: int) -> None:
        self.cells -= count
        if self.cells < 0:
            raise TooLargeError(f"more than {MOST_MAT_CELLS:,} cells")


@dataclass(frozen=True)
class _Element:
    kind: int
    data: memoryview


def is_version_5(content: bytes) -> bool:
    """Whether the header says so; version 7.3 (HDF5) says 2 in the same place."""
    return content[124:128] in (b"\x00\x01IM", b"\x01\x00MI")


def read_variable(content: bytes, name: str) -> np.ndarray | None:
    """The variable called `name`: numbers, or an object array of them for a cell array; None if there is none.

    Dimensions are MATLAB's, at least two. In the place of anything else (text, structures, complex or sparse
    numbers) stands an array that holds None.
    """
    order = "<" if content[126:128] == b"IM" else ">"
    for element in _elements(memoryview(content)[_HEADER:], order):
        variable = element
        if element.kind == _COMPRESSED:
            if not _is_called(name, memoryview(zlib.decompressobj().decompress(element.data, _HEAD))[_TAG:], order):
                continue
            unpacked = _unpacked(element.data, len(content))
            variable = next(_elements(memoryview(unpacked), order), element)
        if variable.kind != _MATRIX:
            raise DamagedError(f"an element of type {variable.kind} stands where a variable should")
        if _is_called(name, variable.data, order):
            return _matrix(variable.data, order, _DEEPEST, _Budget(MOST_MAT_CELLS))
    return None


def _is_called(name: str, variable: memoryview, order: str) -> bool:
    """Whether this is the name of a variable, of which only the beginning is needed."""
    parts = list(_elements(variable, order, most=3))
    return len(parts) == 3 and bytes(parts[2].data) == name.encode()


def _unpacked(packed: memoryview, file_bytes: int) -> bytes:
    most = min(MOST_MAT_BYTES, LEAST_MAT_BYTES + MOST_MAT_GROWTH * file_bytes)
    unpacker = zlib.decompressobj()
    unpacked = unpacker.decompress(packed, most)
    if len(unpacked) == most and not unpacker.eof:
        raise TooLargeError(f"more than {most // 2**20:,} MB")
    if not unpacker.eof:
        raise DamagedError("a packed variable breaks off")
    return unpacked


def _elements(data: memoryview, order: str, most: int | None = None) -> Iterator[_Element]:
    """The elements in `data`, one after the other, at most `most`."""
    position, found = 0, 0
    while position < len(data) and found != most:
        if position + _TAG > len(data):
            raise DamagedError("a tag breaks off")
        kind, size = struct.unpack_from(order + "II", data, position)
        start = position + _TAG
        if kind >> 16:  # small: size and type share the first word, the data is the second
            kind, size, start = kind & 0xFFFF, kind >> 16, position + 4
            if size > 4:
                raise DamagedError("a small element is too large")
            position += _TAG
        else:
            position = start + size
            if kind != _COMPRESSED:
                position += -size % 8
        if start + size > len(data):
            raise DamagedError("an element breaks off")
        found += 1
        yield _Element(kind, data[start : start + size])


def _matrix(data: memoryview, order: str, deepest: int, budget: _Budget) -> np.ndarray:
    """The value of a variable or cell whose sub-elements are in `data`."""
    if not len(data):
        return np.empty((0, 0))
    parts = _elements(data, order)
    flags, dimensions, _ = (_next(parts) for _ in range(3))
    if len(flags.data) < 4:
        raise DamagedError("the flags break off")
    (word,) = struct.unpack_from(order + "I", flags.data)
    shape = tuple(_numbers(dimensions, order).tolist())
    if len(shape) < 2 or any(not isinstance(length, int) or length < 0 for length in shape):
        raise DamagedError("the dimensions are no counts")
    count, kind = _product(shape), word & 0xFF
    if kind == _CELLS:
        if deepest == 0:
            raise DamagedError("cells are nested too deeply")
        budget.take(count)
        inside = [_matrix(_cell(part), order, deepest - 1, budget) for part in islice(parts, count + 1)]
        if len(inside) != count:
            raise DamagedError(f"{len(inside)} cells instead of {count}")
        cells = np.empty(count, dtype=object)
        for i, value in enumerate(inside):  # one by one, or NumPy would stack equal shapes
            cells[i] = value
        return cells.reshape(shape, order="F")
    if kind not in _CLASSES or word & _COMPLEX:
        return np.array(None, dtype=object)
    numbers = _numbers(_next(parts), order) if count else np.empty(0)
    if len(numbers) != count:
        raise DamagedError(f"{len(numbers)} numbers instead of {count}")
    return numbers.astype(_CLASSES[kind]).reshape(shape, order="F")


def _cell(part: _Element) -> memoryview:
    if part.kind != _MATRIX:
        raise DamagedError(f"an element of type {part.kind} stands where a cell should")
    return part.data


def _next(parts: Iterator[_Element]) -> _Element:
    part = next(parts, None)
    if part is None:
        raise DamagedError("a part of a variable is missing")
    return part


def _numbers(part: _Element, order: str) -> np.ndarray:
    if part.kind not in _STORED:
        raise DamagedError(f"an element of type {part.kind} holds no numbers")
    dtype = np.dtype(order + _STORED[part.kind])
    if len(part.data) % dtype.itemsize:
        raise DamagedError("a number breaks off")
    return np.frombuffer(part.data, dtype=dtype)


def _product(shape: tuple[int, ...]) -> int:
    """Without the overflow of NumPy's numbers."""
    count = 1
    for length in shape:
        count *= length
    return count
