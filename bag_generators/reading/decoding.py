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
from contextlib import suppress
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageFile, ImageOps
from PIL.ExifTags import Base as Tag
from PIL.TiffImagePlugin import TiffImageFile

from bag_generators.base.errors import InputError
from bag_generators.base.formats import FORMATS, MAX_BYTES, MAX_PIXELS, MAX_SIDE, format_of, formats_in_words
from bag_generators.reading import tiff
from bag_generators.reading.pixel_values import Storage, bmp_profile, colours_of, png_colours, to_rgb
from bag_generators.reading.scale import Scale, scale_of

MOST_PARTS = {"PNG": 50_000, "JPEG": 10_000}
MOST_JPEG_SCANS = 500
MOST_SCANNED_PIXELS = 10**9
"""Pixels times scans: every scan of a JPEG goes over the whole picture again."""

_UNSUPPORTED = ("unsupported", "not yet supported", "cannot handle", "unknown pixel mode")

_PILLOW_MODULES = r"PIL\."
_NO_PILLOW_WARNINGS = ("ignore", None, Warning, re.compile(_PILLOW_MODULES), 0)
logging.getLogger("PIL").addHandler(logging.NullHandler())  # else its errors are printed when nobody logs

EXPORT_A_REGION = (
    "Put it into the folder of slides (“elimipl app --slides FOLDER”), or export a region of it as PNG or TIFF "
    "(QuPath: File → Export images)."
)
_LARGEST = f"at most {MAX_PIXELS // 10**6} million in all and {MAX_SIDE:,} per side are allowed"
NO_MEMORY = ("There is not enough memory to open this picture.", "Export a smaller region.")
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
        fix = EXPORT_A_REGION if kind and "slide" in kind else f"Give a {formats_in_words()} picture."
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


def stated_size(data: bytes) -> tuple[int, int] | None:
    """Width and height as the header of a picture says; None where it is none of ours or can't be read."""
    kind = detect_kind(data)
    if kind not in FORMATS:
        return None
    _hush_pillow()
    try:
        return FORMATS[kind].reader()(io.BytesIO(data)).size
    except Exception:  # as in `decode`, which says what it is
        return None


def _decode_as(kind: str, data: bytes) -> Decoded:
    coded = _checked_png(data) if kind == "PNG" else b""
    scans = _number_of_scans(data) if kind == "JPEG" else 0
    if kind == "TIFF":
        tiff.refuse_unreadable_head(data)
    picture = FORMATS[kind].reader()(io.BytesIO(data))
    if isinstance(picture, TiffImageFile):
        _refuse_if_too_many_pixels(*picture.size, slide=tiff.is_slide(picture))
        _refuse_if_too_many_pixels(*tiff.tile_size(picture))
        notes = tiff.page_notes(picture)
        tiff.refuse_what_is_decoded_wrongly(picture)
        turned = _orientation(picture) != 1  # Pillow does it on loading
    else:
        _refuse_if_too_many_pixels(*picture.size)
        pixels_to_scan = scans * picture.width * picture.height
        if scans > MOST_JPEG_SCANS or (scans > 1 and pixels_to_scan > MOST_SCANNED_PIXELS):
            raise _too_many_parts(kind, f"{scans} scans of {pixels_to_scan:,} pixels together")
        frames = getattr(picture, "n_frames", 1)
        notes = [f"The picture is animated ({frames} frames); the first one was used."] if frames > 1 else []
        turned = False
    storage, scale = Storage.of(picture, data), scale_of(picture)
    picture.load()
    orientation = 1 if kind == "TIFF" else _orientation(picture)
    if kind == "PNG":
        colours = png_colours(coded, picture.info, picture.mode)
    else:
        colours = colours_of(bmp_profile(data) if kind == "BMP" else picture.info.get("icc_profile"), picture.mode)
    pixels, value_notes = to_rgb(picture, storage, colours)
    del picture  # the memory is needed to turn the pixels
    if orientation != 1:
        upright = Image.fromarray(pixels)
        upright.getexif()[Tag.Orientation] = orientation
        pixels, turned = np.array(ImageOps.exif_transpose(upright)), True
    if turned:
        notes.append("The picture was turned upright as its camera data say.")
    return Decoded(pixels, (*notes, *value_notes), scale)


def _orientation(picture: ImageFile.ImageFile) -> int:
    """1 (upright) to 8; camera data that can't be read say nothing."""
    with suppress(Exception):  # whatever Pillow makes of strangers' bytes
        found = picture.getexif().get(Tag.Orientation, 1)
        return int(found) if found in range(2, 9) else 1
    return 1


def _checked_png(data: bytes) -> bytes:
    """The code of its colours (cICP), which Pillow does not know; raises OSError where a check sum is wrong.

    Pillow skips the sums of the pixels, so that a flipped byte would pass as other pixels.
    """
    position, name, coded = 8, b"", b""
    for _ in range(MOST_PARTS["PNG"]):
        length, name = struct.unpack_from(">I4s", data, position)
        end = position + 8 + length
        if zlib.crc32(memoryview(data)[position + 4 : end]) != struct.unpack_from(">I", data, end)[0]:
            raise OSError("check sum differs")
        if name == b"cICP":
            coded = data[position + 8 : end]
        if name == b"IEND":
            return coded
        position = end + 4
    raise _too_many_parts("PNG", f"more than {MOST_PARTS['PNG']:,} chunks")


def _number_of_scans(data: bytes) -> int:
    """How many scans a JPEG has up to the end of the picture (phones put a film behind it); refuses endless parts."""
    parts = scans = 0
    position = 2
    while (position := data.find(b"\xff", position)) >= 0 and position + 3 < len(data):
        marker = data[position + 1]
        position += 1 if marker == 0xFF else 2
        if marker == 0xD9:
            break
        if marker == 0 or 0xD0 <= marker <= 0xD7:  # between coded pixels: a value, or the next part of the same scan
            continue
        parts += 1
        scans += marker == 0xDA
        if 0xC0 <= marker < 0xFF and marker != 0xD8:
            position += int.from_bytes(data[position : position + 2], "big")
        if parts > MOST_PARTS["JPEG"]:
            raise _too_many_parts("JPEG", f"more than {MOST_PARTS['JPEG']:,} segments")
    return scans


def _too_many_parts(kind: str, parts: str) -> InputError:
    return InputError(f"The {kind} picture is made of too many parts: {parts}.", EXPORT_AGAIN)


def _explained(kind: str, error: Exception) -> InputError:
    """A person's words for what Pillow says, which is known by its text alone."""
    text = str(error)
    if isinstance(error, MemoryError):
        return InputError(*NO_MEMORY)
    if isinstance(error, Image.DecompressionBombError):  # WebP: its decoder takes the memory before it is asked
        return InputError(f"The picture has far too many pixels; {_LARGEST}.", "Export a smaller region.")
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
    what = f"The {'whole-slide image' if slide else 'picture'} has {width:,} × {height:,} pixels; {_LARGEST}."
    raise InputError(what, EXPORT_A_REGION if slide else "Export a smaller region or a smaller copy.")


def _hush_pillow() -> None:
    """Pillow warns about odd metadata on stderr, where no visitor of a page would see it.

    One filter for Pillow's modules alone: unlike `warnings.catch_warnings` it is safe with several threads.
    """
    if _NO_PILLOW_WARNINGS not in warnings.filters:
        warnings.filterwarnings("ignore", module=_PILLOW_MODULES)


_OTHERS: dict[str, tuple[bytes, ...]] = {
    "a PDF document": (b"%PDF",),
    "a ZIP archive or an Office document": (b"PK\x03\x04",),
    "a gzip archive": (b"\x1f\x8b",),
    "a 7z archive": (b"7z\xbc\xaf\x27\x1c",),
    "a RAR archive": (b"Rar!",),
    "a PostScript (EPS) drawing": (b"%!PS", b"\xc5\xd0\xd3\xc6"),
    "a GIF picture": (b"GIF8",),
    "a Photoshop file": (b"8BPS",),
    "a JPEG 2000 picture": (b"\x00\x00\x00\x0cjP  ", b"\xff\x4f\xff\x51"),
    "an icon file": (b"\x00\x00\x01\x00",),
    "a NumPy array file": (b"\x93NUMPY",),
    "a pickle, which could run code": (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05"),
    "a whole-slide image (CZI)": (b"ZISRAWFILE",),
    "an HDF5 file": (b"\x89HDF",),
    "a program": (b"\x7fELF", b"MZ"),
}


def detect_kind(data: bytes) -> str | None:
    """The name of one of our formats, or words for another kind of file ("a PDF document"), or None when unknown.

    Told by the first bytes: names and extensions are never believed.

    >>> detect_kind(b"%PDF-1.7")
    'a PDF document'
    """
    head = data[:1024]
    if (ours := format_of(head)) is not None:
        return ours
    if head[4:8] == b"ftyp":
        return "a HEIC, AVIF or video file"
    if head[128:132] == b"DICM":
        return "a DICOM file"
    return next((kind for kind, starts in _OTHERS.items() if head.startswith(starts)), None) or _detect_text(head)


def _detect_text(head: bytes) -> str | None:
    """Kinds that are text: drawings, pages, plain words. Leading blanks and comments are allowed there."""
    if b"\x00" in head:
        return None
    text = head.decode("utf-8", errors="ignore").lstrip("\ufeff \t\r\n").lower()
    if "<svg" in text:
        return "an SVG drawing"
    if "<html" in text or text.startswith("<!doctype html"):
        return "a web page"
    if text.startswith("<?xml"):
        return "an XML file"
    readable = "".join(character for character in text if character.isprintable() or character.isspace())
    return "a text file" if readable and len(readable.encode()) >= 0.9 * len(head) else None
