"""A literal writer of TIFFs in every layout that programs use: slow, small and independent of the readers."""

import struct
import zlib
from dataclasses import dataclass

import numpy as np

NONE, LZW, JPEG, DEFLATE, OLD_DEFLATE, PACK_BITS = 1, 5, 7, 8, 32946, 32773
WHITE_IS_ZERO, BLACK_IS_ZERO, RGB, PALETTE, CMYK, YCBCR, LAB = 0, 1, 2, 3, 5, 6, 8
_LONGS = {256, 257, 273, 278, 279, 322, 323, 324, 325}


@dataclass(frozen=True)
class Layout:
    """How the values of a picture lie in a file."""

    bits: int = 8
    photometric: int = RGB
    planes: bool = False
    compression: int = NONE
    order: str = "<"
    predictor: int = 1
    tiles: int = 0
    """Side of a tile, 0 for strips."""
    rows: int = 7
    """Of a strip."""
    sample_format: int = 1
    extra: tuple[int, ...] = ()
    big: bool = False
    backwards: bool = False
    """The bits of a byte from the lowest to the highest (fill order 2)."""


def written(values: np.ndarray, layout: Layout, tags: dict[int, tuple[int, ...]] | None = None) -> bytes:
    """The file. `values` is (H, W, samples), of any kind of number that holds `bits` bits."""
    height, width, samples = values.shape
    pieces = [_packed(piece, layout) for piece in _pieces(values, layout)]
    entries = {256: (width,), 257: (height,), 258: (layout.bits,) * samples, 259: (layout.compression,)}
    entries |= {262: (layout.photometric,), 277: (samples,), 284: (2 if layout.planes else 1,)}
    entries |= {339: (layout.sample_format,) * samples}
    if layout.predictor != 1:
        entries[317] = (layout.predictor,)
    if layout.extra:
        entries[338] = layout.extra
    if layout.backwards:
        entries[266] = (2,)
    start, places = 16, []
    for piece in pieces:
        places.append(start)
        start += len(piece) + len(piece) % 2
    if layout.tiles:
        entries |= {322: (layout.tiles,), 323: (layout.tiles,), 324: tuple(places), 325: tuple(map(len, pieces))}
    else:
        entries |= {278: (layout.rows,), 273: tuple(places), 279: tuple(map(len, pieces))}
    body = b"".join(piece + b"\0" * (len(piece) % 2) for piece in pieces)
    return _head(layout, start) + body + _directory(entries | (tags or {}), layout, start)


def _pieces(values, layout):
    planes = [values[..., i : i + 1] for i in range(values.shape[2])] if layout.planes else [values]
    side = layout.tiles
    for plane in planes:
        if not side:
            yield from (plane[top : top + layout.rows] for top in range(0, len(plane), layout.rows))
            continue
        for top in range(0, plane.shape[0], side):
            for left in range(0, plane.shape[1], side):
                part = plane[top : top + side, left : left + side]
                yield np.pad(part, ((0, side - part.shape[0]), (0, side - part.shape[1]), (0, 0)))


def _packed(piece, layout):
    if layout.predictor == 2:
        piece = np.concatenate([piece[:, :1], np.diff(piece, axis=1)], axis=1)  # wraps round
    if layout.bits < 8 or layout.bits == 12:
        rows = piece.reshape(len(piece), -1)
        bits = (rows[..., None].astype(np.uint16) >> np.arange(layout.bits - 1, -1, -1)) & 1
        content = np.packbits(bits.reshape(len(rows), -1).astype(np.uint8), axis=1).tobytes()
    else:
        content = piece.astype(piece.dtype.newbyteorder(layout.order)).tobytes()
        if layout.predictor == 3:
            content = _float_predicted(piece)
    content = {NONE: bytes, LZW: _lzw, PACK_BITS: _pack_bits}.get(layout.compression, zlib.compress)(content)
    if layout.backwards:
        content = np.packbits(np.unpackbits(np.frombuffer(content, np.uint8)), bitorder="little").tobytes()
    return content


def _float_predicted(piece):
    """Bytes of a row sorted by significance, then differences (Adobe's Photoshop TIFF note 3)."""
    rows = piece.astype(">f4").reshape(len(piece), -1).view(np.uint8).reshape(len(piece), -1, 4)
    shuffled = rows.transpose(0, 2, 1).reshape(len(piece), -1)
    return np.concatenate([shuffled[:, :1], np.diff(shuffled, axis=1)], axis=1).tobytes()


def _pack_bits(content):
    """Literal runs only."""
    return b"".join(bytes([len(run) - 1]) + run for run in (content[i : i + 100] for i in range(0, len(content), 100)))


def _lzw(content):
    """Codes of nine bits, the table cleared before it grows: nothing gets smaller, but every reader must follow."""
    clear, end = 256, 257
    codes = []
    for i in range(0, len(content), 200):
        codes += [clear, *content[i : i + 200]]
    bits = (np.array([*codes, end])[:, None] >> np.arange(8, -1, -1)) & 1
    return np.packbits(bits.astype(np.uint8)).tobytes()


def _head(layout, start):
    letters = b"II" if layout.order == "<" else b"MM"
    if layout.big:
        return letters + struct.pack(layout.order + "HHHQ", 43, 8, 0, start)
    return (letters + struct.pack(layout.order + "HI", 42, start)).ljust(16, b"\0")


def _directory(entries, layout, start):
    number, count, room = ("Q", "Q", 8) if layout.big else ("H", "I", 4)
    after = start + struct.calcsize("=" + number) + len(entries) * (20 if layout.big else 12) + room
    table, rest = struct.pack(layout.order + number, len(entries)), b""
    for tag, numbers in sorted(entries.items()):
        kind, letter = (4, "I") if tag in _LONGS else (3, "H")
        content = struct.pack(f"{layout.order}{len(numbers)}{letter}", *numbers)
        table += struct.pack(f"{layout.order}HH{count}", tag, kind, len(numbers))
        if len(content) <= room:
            table += content.ljust(room, b"\0")
        else:
            table += struct.pack(layout.order + count, after + len(rest))
            rest += content + b"\0" * (len(content) % 2)
    return table + struct.pack(layout.order + count, 0) + rest
