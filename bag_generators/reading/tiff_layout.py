"""What of a TIFF's first page reaches Pillow: the tags that say how pixels are stored, and nothing else.

Camera data, descriptions and layers stay out of it: Pillow would read them all and write them again to turn a
picture. Layouts that it is known to decode into wrong pixels are refused.
"""

from __future__ import annotations

import struct

from bag_generators.errors import InputError
from bag_generators.reading.tiff_pages import Directory

MOST_TIFF_STRIPS = 100_000
MOST_VALUES_OF_A_TAG = 64
MOST_TABLE_BYTES = 2**20
MOST_PIECE_BYTES = 60 * 10**6
"""Of one strip or tile, unpacked: a decoder holds it besides the picture."""
MOST_STRIP_BYTES = 200 * 2**20
"""Of all strips or tiles together, packed: a hostile file lets them all point to the same long row of nothing."""

WIDTH, HEIGHT, BITS, COMPRESSION, PHOTOMETRIC, SAMPLES, SAMPLE_FORMAT = 256, 257, 258, 259, 262, 277, 339
TILE_WIDTH, TILE_HEIGHT = 322, 323
_PLANES, _ROWS_A_STRIP, _SUBSAMPLING, _FILL_ORDER = 284, 278, 530, 266
_PLACES = (273, 279, 324, 325)
_COLOUR_MAP, _JPEG_TABLES = 320, 347
_KEPT = frozenset(
    {254, 255, WIDTH, HEIGHT, BITS, COMPRESSION, PHOTOMETRIC, _FILL_ORDER, SAMPLES, _ROWS_A_STRIP, _PLANES, 292, 293}
    | {317, _COLOUR_MAP, TILE_WIDTH, TILE_HEIGHT, 332, 338, SAMPLE_FORMAT, _JPEG_TABLES, *range(512, 522)}
    | {529, _SUBSAMPLING, 531, 532, *_PLACES}
)  # fmt: skip
_UNCOMPRESSED, _YCBCR = 1, 6
_EXPORT_8_BIT = "Export it as an 8-bit PNG, or as a TIFF whose colours lie together (not in planes)."


def for_pillow(page: Directory) -> bytes:
    """A copy of the file whose only directory has the tags that are needed, each once."""
    tags = [tag for tag in page.tags if tag in _KEPT]
    if page.number(SAMPLES, 1) == 1 and _PLANES in tags:
        tags.remove(_PLANES)  # one plane is no planes; Pillow takes its values for half as long
    size = page.entry_size
    entries = b"".join(page.data[page.tags[tag].start : page.tags[tag].start + size] for tag in sorted(tags))
    number, offset = ("Q", "Q") if page.big else ("H", "I")
    head = page.data[:8] if page.big else page.data[:4]
    first = struct.calcsize("=" + offset) + len(head)
    at = len(page.data) + len(page.data) % 2
    directory = struct.pack(page.order + number, len(tags)) + entries + struct.pack(page.order + offset, 0)
    return b"".join(
        [head, struct.pack(page.order + offset, at), page.data[first:], b"\0" * (at - len(page.data)), directory]
    )


def too_many_parts(page: Directory) -> str | None:
    """Words for what there is too much of, or None."""
    for tag in _KEPT & page.tags.keys():
        entry = page.tags[tag]
        if tag in _PLACES:
            if entry.count > MOST_TIFF_STRIPS:
                return f"more than {MOST_TIFF_STRIPS:,} strips or tiles"
        elif entry.count > (MOST_TABLE_BYTES if tag in (_COLOUR_MAP, _JPEG_TABLES) else MOST_VALUES_OF_A_TAG):
            return f"too many values of the tag {tag}"
    for tag in (279, 325):
        lengths = page.numbers(tag, MOST_TIFF_STRIPS)
        if lengths is not None and float(lengths.sum(dtype=float)) > MOST_STRIP_BYTES:
            return f"strips or tiles of more than {MOST_STRIP_BYTES // 2**20} MB together"
    return None


def refuse_what_is_decoded_wrongly(page: Directory) -> None:
    """Refuse layouts whose pixels Pillow gets wrong, and pieces so large that the memory would not do."""
    bits, samples = page.number(BITS, 1), page.number(SAMPLES, 1)
    planes = page.number(_PLANES, 1) == 2 and samples > 1
    plain = page.number(COMPRESSION, 1) == _UNCOMPRESSED
    photometric = page.number(PHOTOMETRIC, 0)
    backwards = page.number(_FILL_ORDER, 1) == 2
    if page.big and page.order == ">":
        raise InputError("This kind of TIFF (BigTIFF with the high bytes first) is not read here.", _EXPORT_8_BIT)
    if planes and plain and (bits != 8 or photometric not in (1, 2, 5) or backwards):
        raise InputError(f"The TIFF stores its colours in separate planes of {bits} bits.", _EXPORT_8_BIT)
    if photometric == _YCBCR and plain and (planes or _subsampling(page) != [1, 1]):
        raise InputError("The TIFF stores fewer colours than pixels (YCbCr) without compression.", _EXPORT_8_BIT)
    signed_or_float = page.number(SAMPLE_FORMAT, 1) != 1
    if page.order == ">" and not plain and (bits > 16 or (bits == 16 and signed_or_float)):
        raise InputError(f"The TIFF packs values of {bits} bits with the high bytes first.", _EXPORT_8_BIT)
    width = page.number(TILE_WIDTH, page.number(WIDTH, 0))
    rows = page.number(TILE_HEIGHT, min(page.number(_ROWS_A_STRIP, 2**32), page.number(HEIGHT, 0)))
    if not plain and width * rows * bits * (1 if planes else samples) / 8 > MOST_PIECE_BYTES:
        raise InputError("The TIFF keeps all its pixels in one compressed piece.", "Export a smaller region.")


def _subsampling(page: Directory) -> list[int]:
    found = page.numbers(_SUBSAMPLING, 2)
    return [2, 2] if found is None else found.tolist()
