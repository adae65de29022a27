"""What is special about TIFFs: pages, tiles, slides, and the layouts that Pillow decodes into wrong pixels."""

from __future__ import annotations

from PIL.TiffImagePlugin import TiffImageFile

from bag_generators.base.errors import InputError

MOST_PAGES_COUNTED = 100
MOST_STRIPS = 100_000
MOST_STRIP_BYTES = 200 * 2**20
"""Of all strips or tiles together, packed: a hostile file lets them all point to the same long row of nothing."""

WIDTH, HEIGHT, BITS, COMPRESSION, PHOTOMETRIC, SAMPLES, SAMPLE_FORMAT = 256, 257, 258, 259, 262, 277, 339
DESCRIPTION = 270
_FILL_ORDER, _PLANES, _TILE_WIDTH, _TILE_HEIGHT, _SUBSAMPLING = 266, 284, 322, 323, 530
_PLACES, _LENGTHS = (273, 324), (279, 325)  # of strips, of tiles
_UNCOMPRESSED, _YCBCR = 1, 6
_EXPORT_8_BIT = "Export it as an 8-bit PNG, or as a TIFF whose colours lie together (not in planes)."


def refuse_unreadable_head(data: bytes) -> None:
    """Refuse the one kind of file that Pillow takes for another."""
    if data.startswith(b"MM\0+"):
        raise InputError("This kind of TIFF (BigTIFF with the high bytes first) is not read here.", _EXPORT_8_BIT)


def is_slide(picture: TiffImageFile) -> bool:
    """Scanners write tiled TIFFs, most of them with the maker's name in the description."""
    return _TILE_WIDTH in picture.tag_v2 or "aperio" in str(picture.tag_v2.get(DESCRIPTION, "")).lower()


def tile_size(picture: TiffImageFile) -> tuple[int, int]:
    """Width and height of a tile; of the picture where there are none."""
    tags = picture.tag_v2
    return (tags.get(_TILE_WIDTH, 1), tags.get(_TILE_HEIGHT, 1)) if _TILE_WIDTH in tags else picture.size


def page_notes(picture: TiffImageFile) -> list[str]:
    """A note where there are several pages; page 1 stays chosen. A page that can't be read is the last one counted."""
    pages = 1
    try:
        while pages <= MOST_PAGES_COUNTED:
            picture.seek(pages)
            pages += 1
    except EOFError:
        pass
    except Exception:  # whatever is wrong with it, it is not the page that is read
        pages += 1
    picture.seek(0)
    count = str(pages) if pages <= MOST_PAGES_COUNTED else f"more than {MOST_PAGES_COUNTED}"
    return [f"The file has {count} pages; page 1 was used."] if pages > 1 else []


def refuse_what_is_decoded_wrongly(picture: TiffImageFile) -> None:
    """Refuse layouts whose pixels Pillow gets wrong, and pixels in more pieces than any program writes."""
    tags = picture.tag_v2
    bits, samples = max(tags.get(BITS, (1,))), tags.get(SAMPLES, 1)
    planes = tags.get(_PLANES, 1) == 2 and samples > 1
    plain = tags.get(COMPRESSION, 1) == _UNCOMPRESSED
    photometric = tags.get(PHOTOMETRIC, 0)
    if planes and plain and (bits != 8 or photometric not in (1, 2, 5) or tags.get(_FILL_ORDER, 1) == 2):
        raise InputError(f"The TIFF stores its colours in separate planes of {bits} bits.", _EXPORT_8_BIT)
    if photometric == _YCBCR and plain and (planes or tuple(tags.get(_SUBSAMPLING, (2, 2))) != (1, 1)):
        raise InputError("The TIFF stores fewer colours than pixels (YCbCr) without compression.", _EXPORT_8_BIT)
    signed_or_float = max(tags.get(SAMPLE_FORMAT, (1,))) != 1
    if tags.prefix == b"MM" and not plain and (bits > 16 or (bits == 16 and signed_or_float)):
        raise InputError(f"The TIFF packs values of {bits} bits with the high bytes first.", _EXPORT_8_BIT)
    pieces = max(len(tags.get(tag, ())) for tag in _PLACES)
    packed = max(sum(tags.get(tag, ())) for tag in _LENGTHS)
    if pieces > MOST_STRIPS or packed > MOST_STRIP_BYTES:
        parts = f"{pieces:,} strips or tiles of {packed // 2**20:,} MB together"
        raise InputError(f"The TIFF picture is made of too many parts: {parts}.", "Export it again, as PNG or JPEG.")
    if tags.get(_PLANES, 1) == 2 and samples == 1:
        tags[_PLANES] = 1  # one plane is no planes; Pillow would take its values for half as long
        picture._setup()
