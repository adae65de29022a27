"""From the bytes of an unknown file to upright 8-bit RGB pixels, or to a sentence saying why not.

Pillow's readers are called directly instead of through `Image.open`: only the five formats of the allow-list can
ever run (an EPS would start Ghostscript), and the size in the header is checked against our own limits before a
pixel is decoded, without touching Pillow's global ones.
"""

from __future__ import annotations

import io
import struct
import warnings
import zlib

import numpy as np
from PIL import (
    BmpImagePlugin,
    ImageFile,
    ImageOps,
    JpegImagePlugin,
    PngImagePlugin,
    TiffImagePlugin,
    WebPImagePlugin,
)

from bag_generators.detection import detect_kind
from bag_generators.errors import InputError
from bag_generators.pixel_values import Storage, to_rgb

MAX_BYTES = 50 * 2**20
MAX_PIXELS = 40_000_000
MAX_SIDE = 20_000
_MAX_PAGES_COUNTED = 100  # counting the pages of a hostile TIFF could take minutes

_READERS: dict[str, type[ImageFile.ImageFile]] = {
    "PNG": PngImagePlugin.PngImageFile,
    "JPEG": JpegImagePlugin.JpegImageFile,
    "TIFF": TiffImagePlugin.TiffImageFile,
    "BMP": BmpImagePlugin.BmpImageFile,
    "WebP": WebPImagePlugin.WebPImageFile,
}
_ORIENTATION = 0x0112  # EXIF and TIFF tag

EXPORT_A_REGION = "Export a region of it as PNG or TIFF (QuPath: File → Export images)."
EXPORT_AGAIN = "Export it again as PNG, JPEG or TIFF."


def decode(data: bytes) -> tuple[np.ndarray, tuple[str, ...]]:
    """Pixels ((H, W, 3) uint8, contiguous, read-only) and notes on what was converted."""
    refuse_if_too_many_bytes(len(data), data[:64])
    if not data:
        raise InputError("The file is empty.", "Choose another file.")
    kind = detect_kind(data)
    if kind not in _READERS:
        found = f"it looks like {kind}" if kind else "its kind is unknown"
        raise InputError(
            f"This is not an image we can read: {found}.", "Give a PNG, JPEG, TIFF, BMP or WebP picture."
        )
    _hush_pillow()
    try:
        return _decode_as(kind, data)
    except InputError:
        raise
    except MemoryError:
        raise InputError(
            "There is not enough memory to open this picture.", "Export a smaller region."
        ) from None
    except Exception:  # Pillow's readers raise more than a dozen kinds of exception on broken files
        raise InputError(f"The {kind} picture is incomplete or damaged.", EXPORT_AGAIN) from None


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
    if kind == "WebP":  # its reader allocates the canvas on opening
        _refuse_if_too_many_pixels(*_webp_size(data))
    picture = _open(kind, data)
    _refuse_if_too_many_pixels(*picture.size, slide=_is_slide(picture))
    if kind == "PNG":
        _check_png_sums(data)

    notes = _page_notes(picture)
    turned = _orientation(picture) not in (None, 1)
    storage = Storage.of(picture, data)
    picture.load()
    pixels, value_notes = to_rgb(ImageOps.exif_transpose(picture) if turned else picture, storage)
    if turned:
        notes.append("The picture was turned upright as its camera data say.")
    notes += value_notes
    pixels.setflags(write=False)
    return pixels, tuple(notes)


def _open(kind: str, data: bytes) -> ImageFile.ImageFile:
    try:
        return _READERS[kind](io.BytesIO(data))
    except SyntaxError as error:
        if "unknown pixel mode" in str(error) or "not supported" in str(error).lower():
            raise InputError(
                f"This kind of {kind} (its way to store pixels) can't be read.", "Save it as 8-bit RGB."
            ) from None
        raise
    except ValueError:
        if kind == "PNG":  # text or colour profile that unpacks to more than Pillow allows
            raise InputError("The picture carries damaged or unsafe metadata.", EXPORT_AGAIN) from None
        raise


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


def _webp_size(data: bytes) -> tuple[int, int]:
    """Width and height from the header of the three kinds of WebP."""
    chunk, head = data[12:16], data[20:30].ljust(10, b"\0")
    if chunk == b"VP8X":
        return int.from_bytes(head[4:7], "little") + 1, int.from_bytes(head[7:10], "little") + 1
    if chunk == b"VP8L":
        bits = int.from_bytes(head[1:5], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    width, height = struct.unpack("<HH", head[6:10])
    return width & 0x3FFF, height & 0x3FFF


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
    tile_width, description = 322, 270
    return tile_width in picture.tag_v2 or "aperio" in str(picture.tag_v2.get(description, "")).lower()


def _page_notes(picture: ImageFile.ImageFile) -> list[str]:
    """A note when the file holds more than one page or frame; the first one stays selected."""
    if isinstance(picture, TiffImagePlugin.TiffImageFile):
        pages = 1
        try:
            while pages <= _MAX_PAGES_COUNTED:
                picture.seek(pages)
                pages += 1
        except Exception:  # the end, or a damaged later page that nobody needs
            pass
        picture.seek(0)
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
    """Pillow warns about odd metadata on stderr, where nobody of a web page's visitors would see it.

    A filter for Pillow's modules alone: unlike `warnings.catch_warnings` it is safe with several threads, and
    adding it again changes nothing.
    """
    warnings.filterwarnings("ignore", module=r"PIL\.")
