"""From the bytes of an unknown file to upright 8-bit RGB pixels, or to a sentence saying why not.

Pillow's readers are called directly instead of through `Image.open`: only the formats of the allow-list
can ever run (an EPS would start Ghostscript), and the size in the header is checked against our own limits
before a pixel is decoded, without touching Pillow's global ones.
"""

from __future__ import annotations

import io
import logging
import re
import struct
import warnings
import zlib
from itertools import islice

import numpy as np
from PIL import ImageFile, ImageOps, TiffImagePlugin

from bag_generators.errors import InputError
from bag_generators.formats import FORMATS, MAX_BYTES, MAX_PIXELS, MAX_SIDE, in_words
from bag_generators.reading.detection import detect_kind
from bag_generators.reading.pixel_values import Storage, to_rgb
from bag_generators.reading.slow_files import why_slow
from bag_generators.reading.tiff_pages import directories

_MAX_PAGES_COUNTED = 100

_ORIENTATION, _DESCRIPTION, _TILE_WIDTH, _TILE_HEIGHT = 274, 270, 322, 323  # tags of TIFF and EXIF
_UNSUPPORTED = ("unsupported", "not yet supported", "cannot handle", "unknown pixel mode")

_PILLOW_MODULES = r"PIL\."
_NO_PILLOW_WARNINGS = ("ignore", None, Warning, re.compile(_PILLOW_MODULES), 0)
logging.getLogger("PIL").addHandler(logging.NullHandler())  # else its errors are printed when nobody logs

EXPORT_A_REGION = "Export a region of it as PNG or TIFF (QuPath: File → Export images)."
EXPORT_AGAIN = "Export it again as PNG, JPEG or TIFF."


def decode(data: bytes) -> tuple[np.ndarray, tuple[str, ...]]:
    """Pixels ((H, W, 3) uint8, contiguous) and notes on what was converted."""
    refuse_if_too_many_bytes(len(data), data[:64])
    if not data:
        raise InputError("The file is empty.", "Choose another file.")
    kind = detect_kind(data)
    if kind not in FORMATS:
        found = f"it looks like {kind}" if kind else "its kind is unknown"
        fix = EXPORT_A_REGION if kind and "slide" in kind else f"Give a {in_words()} picture."
        raise InputError(f"This is not an image we can read: {found}.", fix)
    _hush_pillow()
    try:
        return _decode_as(kind, data)
    except InputError:
        raise
    except Exception as error:  # Pillow's readers raise more than a dozen kinds of exception on broken files
        raise _explained(kind, error) from None


def refuse_if_too_many_bytes(size: int, head: bytes) -> None:
    """Refuse a file over the cap; `head` (its first bytes) tells a slide from another picture."""
    if size <= MAX_BYTES:
        return
    if detect_kind(head) == "TIFF":
        raise InputError(
            f"The file has {size / 2**20:,.1f} MB, more than the {MAX_BYTES // 2**20} MB allowed; "
            "it may be a whole-slide image.",
            EXPORT_A_REGION,
        )
    raise InputError(
        f"The file has {size / 2**20:,.1f} MB, more than the {MAX_BYTES // 2**20} MB allowed.",
        "Export a smaller region or save it as JPEG.",
    )


def _decode_as(kind: str, data: bytes) -> tuple[np.ndarray, tuple[str, ...]]:
    if (claimed := _claimed_size(kind, data)) is not None:
        _refuse_if_too_many_pixels(*claimed)
    if (slow := why_slow(kind, data)) is not None:
        raise InputError(slow, EXPORT_AGAIN)
    picture = FORMATS[kind].reader()(io.BytesIO(data))
    _refuse_if_too_many_pixels(*picture.size, slide=_is_slide(picture))
    if isinstance(picture, TiffImagePlugin.TiffImageFile) and _TILE_WIDTH in picture.tag_v2:
        _refuse_if_too_many_pixels(picture.tag_v2[_TILE_WIDTH], picture.tag_v2[_TILE_HEIGHT])
    if kind == "PNG":
        _check_png_sums(data)

    notes = _page_notes(picture, data)
    turned = _orientation(picture) not in (None, 1)
    storage = Storage.of(picture, data)
    picture.load()
    pixels, value_notes = to_rgb(ImageOps.exif_transpose(picture) if turned else picture, storage)
    if turned:
        notes.append("The picture was turned upright as its camera data say.")
    notes += value_notes
    return pixels, tuple(notes)


def _explained(kind: str, error: Exception) -> InputError:
    """A person's words for what Pillow says, which is known by its text alone."""
    text = str(error)
    if isinstance(error, MemoryError):
        return InputError("There is not enough memory to open this picture.", "Export a smaller region.")
    if "MAX_TEXT" in text or "iCCP" in text:  # texts or colour profiles that unpack to megabytes
        return InputError("The picture carries damaged or unsafe metadata.", EXPORT_AGAIN)
    unknown_tiff_compression = kind == "TIFF" and isinstance(error.__cause__, KeyError)
    if unknown_tiff_compression or any(words in text.lower() for words in _UNSUPPORTED):
        return InputError(f"This kind of {kind} stores its pixels in a way we can't read.", "Save it as 8-bit RGB.")
    return InputError(f"The {kind} picture is incomplete or damaged.", EXPORT_AGAIN)


def _refuse_if_too_many_pixels(width: int, height: int, slide: bool = False) -> None:
    if width < 1 or height < 1:
        raise InputError(f"The picture has no pixels ({width} × {height}).", EXPORT_AGAIN)
    if width * height <= MAX_PIXELS and max(width, height) <= MAX_SIDE:
        return
    what = (
        f"The {'whole-slide image' if slide else 'picture'} has {width:,} × {height:,} pixels; "
        f"at most {MAX_PIXELS // 10**6} million in all and {MAX_SIDE:,} a side are allowed."
    )
    raise InputError(what, EXPORT_A_REGION if slide else "Export a smaller region or a smaller copy.")


def _claimed_size(kind: str, data: bytes) -> tuple[int, int] | None:
    """Width and height from the header, for the two formats where asking Pillow is too late.

    Its WebP reader allocates the whole canvas on opening; its PNG reader calls a picture of no pixels no PNG.
    """
    head = data[16:30]
    if len(head) < 14:
        return None
    if kind == "PNG":
        width, height = struct.unpack_from(">II", head)
        return width, height
    if kind == "WebP" and data[12:16] == b"VP8X":
        return int.from_bytes(head[8:11], "little") + 1, int.from_bytes(head[11:14], "little") + 1
    if kind == "WebP" and data[12:16] == b"VP8L":
        bits = int.from_bytes(head[5:9], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == "WebP" and data[12:16] == b"VP8 ":
        width, height = struct.unpack_from("<HH", head, 10)
        return width & 0x3FFF, height & 0x3FFF
    return None


def _check_png_sums(data: bytes) -> None:
    """Pillow skips the check sums of the pixel data, so that a flipped byte would pass as other pixels."""
    position = 8
    while True:
        length, name = struct.unpack_from(">I4s", data, position)
        end = position + 8 + length
        (expected,) = struct.unpack_from(">I", data, end)
        if zlib.crc32(memoryview(data)[position + 4 : end]) != expected:
            raise OSError("check sum differs")
        if name == b"IEND":
            return
        position = end + 4


def _is_slide(picture: ImageFile.ImageFile) -> bool:
    """Scanners write tiled TIFFs, most of them with the maker's name in the description."""
    if not isinstance(picture, TiffImagePlugin.TiffImageFile):
        return False
    return _TILE_WIDTH in picture.tag_v2 or "aperio" in str(picture.tag_v2.get(_DESCRIPTION, "")).lower()


def _page_notes(picture: ImageFile.ImageFile, data: bytes) -> list[str]:
    """A note when the file holds more than one page or frame; the first one stays selected."""
    if isinstance(picture, TiffImagePlugin.TiffImageFile):
        pages = sum(1 for _ in islice(directories(data), _MAX_PAGES_COUNTED + 1))
        count = f"more than {_MAX_PAGES_COUNTED}" if pages > _MAX_PAGES_COUNTED else str(pages)
        return [f"The file has {count} pages; page 1 was used."] if pages > 1 else []
    frames = getattr(picture, "n_frames", 1)
    return [f"The picture is animated ({frames} frames); the first one was used."] if frames > 1 else []


def _orientation(picture: ImageFile.ImageFile) -> int | None:
    try:
        value = picture.getexif().get(_ORIENTATION)
    except Exception:  # camera data that can't be read say nothing about which way is up
        return None
    return value if value in range(1, 9) else None


def _hush_pillow() -> None:
    """Pillow warns about odd metadata on stderr, where no visitor of a page would see it.

    One filter for Pillow's modules alone: unlike `warnings.catch_warnings` it is safe with several threads.
    """
    if _NO_PILLOW_WARNINGS not in warnings.filters:
        warnings.filterwarnings("ignore", module=_PILLOW_MODULES)
