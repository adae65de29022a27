"""From the bytes of an unknown file to upright 8-bit RGB pixels, or to a sentence saying why not.

Pillow's readers are called directly instead of through `Image.open`: only the formats of the allow-list
can ever run (an EPS would start Ghostscript), and the size in the header is checked against our own limits
before a pixel is decoded, without touching Pillow's global ones.
"""

from __future__ import annotations

import io
import logging
import re
import warnings
from itertools import islice
from typing import NamedTuple

import numpy as np
from PIL import ImageFile, TiffImagePlugin

from bag_generators.errors import InputError
from bag_generators.formats import (
    FORMATS,
    MAX_BYTES,
    MAX_PIXELS,
    MAX_SIDE,
    MAX_TABLE_PIXELS,
    MAX_UNPACKED_BYTES,
    MAX_WEBP_PIXELS,
    in_words,
)
from bag_generators.reading.colour_profiles import MOST_PROFILE_BYTES, Colours, bmp_profile, colours_of, png_colours
from bag_generators.reading.detection import detect_kind
from bag_generators.reading.header_size import stated_size, unpacked_bytes
from bag_generators.reading.jpeg_segments import camera_data, outline, without_camera_data
from bag_generators.reading.orientation import MOST_XMP_BYTES, from_hexadecimal, orientation_of, turned_upright
from bag_generators.reading.orientation import TAG as ORIENTATION_TAG
from bag_generators.reading.pixel_values import Storage, to_rgb
from bag_generators.reading.png_chunks import check_sums
from bag_generators.reading.scale import Scale, scale_of
from bag_generators.reading.slow_files import MOST_TIFF_ENTRIES, why_slow
from bag_generators.reading.tiff_layout import TILE_HEIGHT, TILE_WIDTH, for_pillow, refuse_what_is_decoded_wrongly
from bag_generators.reading.tiff_pages import Directory, directories

_MAX_PAGES_COUNTED = 100

_DESCRIPTION, _XMP, _PROFILE = 270, 700, 34675  # tags of a TIFF
_LONGEST_DESCRIPTION = 2**16
_UNSUPPORTED = ("unsupported", "not yet supported", "cannot handle", "unknown pixel mode")

_PILLOW_MODULES = r"PIL\."
_NO_PILLOW_WARNINGS = ("ignore", None, Warning, re.compile(_PILLOW_MODULES), 0)
logging.getLogger("PIL").addHandler(logging.NullHandler())  # else its errors are printed when nobody logs

EXPORT_A_REGION = (
    "Put it into the folder of slides (“elimipl app --slides FOLDER”), or export a region of it as PNG or TIFF "
    "(QuPath: File → Export images)."
)
EXPORT_AGAIN = "Export it again as PNG, JPEG or TIFF."


class Decoded(NamedTuple):
    """What is known of a picture when its file is closed."""

    pixels: np.ndarray
    """(H, W, 3) uint8, contiguous."""
    notes: tuple[str, ...]
    """On what was converted."""
    scale: Scale


def decode(data: bytes) -> Decoded:
    """The picture in the bytes of a file."""
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


def _decode_as(kind: str, data: bytes) -> Decoded:
    page = _first_page(data) if kind == "TIFF" else None
    slide = page is not None and _is_slide(page)
    if (stated := stated_size(data)) is not None:
        _refuse_if_too_many_pixels(*stated, slide=slide)
        _refuse_if_too_many_for_webp(kind, *stated)
        _refuse_if_too_much_to_unpack(kind, data, *stated)
    if page is not None and TILE_WIDTH in page.tags:
        _refuse_if_too_many_pixels(page.number(TILE_WIDTH, 0), page.number(TILE_HEIGHT, 0))
    if (slow := why_slow(kind, data)) is not None:
        raise InputError(slow, EXPORT_AGAIN)
    if page is not None:
        refuse_what_is_decoded_wrongly(page)
    source = io.BytesIO(_for_pillow(kind, data, page))
    picture = FORMATS[kind].reader()(source)
    _refuse_if_too_many_pixels(*picture.size, slide=slide)
    if kind == "PNG":
        check_sums(data)

    notes = _page_notes(picture, data)
    storage = Storage.of(picture, data)
    colours = _colours(kind, data, picture, page)
    if colours.slow or picture.mode == "LAB":
        _refuse_if_too_many_to_convert(*picture.size)
    picture.load()
    source.close()  # the copy is not needed any longer, its memory is
    orientation = _orientation(kind, data, picture, page)
    pixels, value_notes = to_rgb(picture, storage, colours)
    del picture  # the memory is needed to turn the pixels
    if orientation != 1:
        pixels = turned_upright(pixels, orientation)
        notes.append("The picture was turned upright as its camera data say.")
    notes += value_notes
    return Decoded(pixels, tuple(notes), scale_of(kind, data, page))


def _refuse_if_too_many_for_webp(kind: str, width: int, height: int) -> None:
    if kind == "WebP" and width * height > MAX_WEBP_PIXELS:
        raise InputError(
            f"The WebP picture has {width:,} × {height:,} pixels; {MAX_WEBP_PIXELS // 10**6} million are allowed.",
            "Save it as PNG or JPEG, or export a smaller region.",
        )


def _refuse_if_too_much_to_unpack(kind: str, data: bytes, width: int, height: int) -> None:
    size, most = unpacked_bytes(kind, data), MAX_UNPACKED_BYTES.get(kind, 0)
    if size is not None and size > most:
        fitting = int(width * height * most / size / 10**6)
        raise InputError(
            f"The {kind} picture has {width:,} × {height:,} pixels; with this many bits each, {fitting} million are "
            "allowed.",
            "Save it as an 8-bit RGB picture, or export a smaller region.",
        )


def _refuse_if_too_many_to_convert(width: int, height: int) -> None:
    if width * height > MAX_TABLE_PIXELS:
        raise InputError(
            f"The picture has {width:,} × {height:,} pixels; with colours that are looked up in tables (printing "
            f"colours, Lab, some profiles), {MAX_TABLE_PIXELS // 10**6} million are allowed.",
            "Save it as sRGB, or export a smaller region.",
        )


def _first_page(data: bytes) -> Directory:
    page = next(directories(data), None)
    if page is None:
        raise OSError("no directory")
    if page.entries > MOST_TIFF_ENTRIES:
        raise InputError(str(why_slow("TIFF", data)), EXPORT_AGAIN)
    return page


def _for_pillow(kind: str, data: bytes, page: Directory | None) -> bytes:
    """The file without the parts of it that Pillow would read on opening though nobody asked."""
    if page is not None:
        return for_pillow(page)
    return without_camera_data(data, outline(data)) if kind == "JPEG" else data


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
        f"at most {MAX_PIXELS // 10**6} million in all and {MAX_SIDE:,} per side are allowed."
    )
    raise InputError(what, EXPORT_A_REGION if slide else "Export a smaller region or a smaller copy.")


def _is_slide(page: Directory) -> bool:
    """Scanners write tiled TIFFs, most of them with the maker's name in the description."""
    return TILE_WIDTH in page.tags or b"aperio" in (page.content(_DESCRIPTION, _LONGEST_DESCRIPTION) or b"").lower()


def _page_notes(picture: ImageFile.ImageFile, data: bytes) -> list[str]:
    """A note when the file holds more than one page or frame; the first one stays selected."""
    if isinstance(picture, TiffImagePlugin.TiffImageFile):
        pages = sum(1 for _ in islice(directories(data), _MAX_PAGES_COUNTED + 1))
        count = f"more than {_MAX_PAGES_COUNTED}" if pages > _MAX_PAGES_COUNTED else str(pages)
        return [f"The file has {count} pages; page 1 was used."] if pages > 1 else []
    frames = getattr(picture, "n_frames", 1)
    return [f"The picture is animated ({frames} frames); the first one was used."] if frames > 1 else []


def _orientation(kind: str, data: bytes, picture: ImageFile.ImageFile, page: Directory | None) -> int:
    """1 to 8, from the bytes of the camera data; Pillow is not asked, since it would read all of them."""
    if page is not None:
        found = page.number(ORIENTATION_TAG, 0)
        return found if found in range(2, 9) else orientation_of(None, page.content(_XMP, MOST_XMP_BYTES))
    if kind == "JPEG":
        return orientation_of(camera_data(data, outline(data)), picture.info.get("xmp"))
    exif = picture.info.get("exif")
    if exif is None and isinstance(text := picture.info.get("Raw profile type exif"), str):
        exif = from_hexadecimal(text)
    return orientation_of(exif, picture.info.get("XML:com.adobe.xmp") or picture.info.get("xmp"))


def _colours(kind: str, data: bytes, picture: ImageFile.ImageFile, page: Directory | None) -> Colours:
    if kind == "PNG":
        return png_colours(data, picture.info, picture.mode)
    if kind == "BMP":
        return colours_of(bmp_profile(data), picture.mode)
    if page is not None:
        return colours_of(page.content(_PROFILE, MOST_PROFILE_BYTES + 1), picture.mode)
    return colours_of(picture.info.get("icc_profile"), picture.mode)


def _hush_pillow() -> None:
    """Pillow warns about odd metadata on stderr, where no visitor of a page would see it.

    One filter for Pillow's modules alone: unlike `warnings.catch_warnings` it is safe with several threads.
    """
    if _NO_PILLOW_WARNINGS not in warnings.filters:
        warnings.filterwarnings("ignore", module=_PILLOW_MODULES)
