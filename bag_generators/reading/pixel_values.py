"""Any way a picture file stores its values (grey, 16 bit, float, palette, ink, transparency, profile) → 8-bit sRGB.

Nothing is clipped silently: values are scaled by the range they were stored in, and a note says so. The picture is
converted in bands of rows, so that forty million pixels need little more memory than once for Pillow and once for us.
A colour profile is a stranger's file in the file: its size, the number of its tags and their kinds are checked first.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import cv2
import numpy as np
from PIL import Image, ImageCms, ImageFile, TiffImagePlugin

from bag_generators.base.errors import InputError
from bag_generators.reading.tiff import BITS, PHOTOMETRIC, SAMPLE_FORMAT

MOST_PROFILE_BYTES = 4 * 2**20
MOST_PROFILE_TAGS = 100
SMALLEST_CHANGE = 2
"""In steps of 255: a profile that changes no colour by more is sRGB under another name."""

CONVERTED = "The colours were converted to sRGB from the colour profile in the file."
UNUSED = "The colour profile in the file can't be used; the colours were taken for sRGB."
NO_PROFILE = "The file describes its colours without a colour profile; they were taken for sRGB."

_GRID = 17
_SAME_GAMMA, _SAME_POINT = 0.05, 0.005  # what other readers of PNG take for sRGB
_SRGB_POINTS = (0.3127, 0.3290, 0.64, 0.33, 0.30, 0.60, 0.15, 0.06)  # white, red, green, blue
_SRGB_CODE = bytes([1, 13])  # numbers of the standard H.273
# Two kinds of tag that can point many times to the same megabytes, each of which would be unpacked.
_ENDLESS_KINDS = (b"mpet", b"ncl2")


@dataclass(frozen=True)
class Colours:
    """How to get to sRGB (both ways None: it is sRGB already), and what to say about it."""

    convert: Callable[[np.ndarray], np.ndarray] | None = None
    """For (H, W, 3) uint8 pixels."""
    from_inks: Callable[[Image.Image], Image.Image] | None = None
    """For a part of the picture in CMYK."""
    note: str | None = None


def colours_of(profile: bytes | None, mode: str) -> Colours:
    """For a picture of a Pillow mode that carries this ICC profile."""
    if profile is None:
        return Colours()
    try:
        return _colours(profile, mode)
    except (ImageCms.PyCMSError, OSError, ValueError, TypeError, struct.error):
        return Colours(note=UNUSED)


def png_colours(coded: bytes, info: dict[Any, Any], mode: str) -> Colours:
    """For a PNG, which may also say it by a code (cICP), gamma or primaries; these are not converted but said."""
    if "icc_profile" in info:
        return colours_of(info["icc_profile"] or b"", mode)
    if coded:
        usual = coded.startswith(_SRGB_CODE)
    else:
        points = np.abs(np.subtract(info.get("chromaticity", _SRGB_POINTS), _SRGB_POINTS))
        usual = abs(info.get("gamma", 1 / 2.2) * 2.2 - 1) < _SAME_GAMMA and points.max() < _SAME_POINT
    return Colours(note=None if usual or ("srgb" in info and not coded) else NO_PROFILE)


@cache
def lab_to_srgb() -> ImageCms.ImageCmsTransform:
    """For pictures of Lab values, made once: Pillow would build it again for every band."""
    lab, srgb = ImageCms.createProfile("LAB"), ImageCms.createProfile("sRGB")
    return ImageCms.buildTransform(lab, srgb, "LAB", "RGB")


def bmp_profile(data: bytes) -> bytes | None:
    """The profile embedded in a BMP of the newest kind (124 bytes of header), None in all others."""
    if len(data) < 138 or struct.unpack_from("<I", data, 14)[0] < 124 or data[70:74] != b"DEBM":
        return None
    start, size = struct.unpack_from("<II", data, 126)
    return data[14 + start : 14 + start + size]


def _colours(content: bytes, mode: str) -> Colours:
    _check(content)
    profile = ImageCms.ImageCmsProfile(io.BytesIO(content))
    space = profile.profile.xcolor_space.strip()
    if space == "RGB" and mode not in ("CMYK", "LAB"):
        transform = _transform(profile, "RGB")
        spread = _spread_colours()
        convert = lambda pixels: np.asarray(transform.apply(Image.fromarray(pixels)))  # noqa: E731
        changes = _largest_difference(convert(spread), spread) > SMALLEST_CHANGE
        return Colours(convert, note=CONVERTED) if changes else Colours()
    if space == "GRAY" and mode in ("1", "L", "LA", "La"):
        ramp = Image.frombytes("L", (256, 1), bytes(range(256)))
        table = np.asarray(_transform(profile, "L").apply(ramp).getchannel("G"))
        changes = _largest_difference(table, np.arange(256)) > SMALLEST_CHANGE
        return Colours(lambda pixels: np.asarray(cv2.LUT(pixels, table)), note=CONVERTED) if changes else Colours()
    if space == "CMYK" and mode == "CMYK":
        return Colours(from_inks=_transform(profile, "CMYK").apply, note=CONVERTED)
    return Colours(note=UNUSED)


def _check(content: bytes) -> None:
    """Refuse what is no profile, is too large, or is made to unpack without end."""
    if not 132 <= len(content) <= MOST_PROFILE_BYTES:
        raise ValueError("a profile of no usual size")
    (tags,) = struct.unpack_from(">I", content, 128)
    if tags > MOST_PROFILE_TAGS:
        raise ValueError("too many tags")
    for i in range(tags):
        _, offset, _ = struct.unpack_from(">4sII", content, 132 + 12 * i)
        if content[offset : offset + 4] in _ENDLESS_KINDS:
            raise ValueError("a kind of tag that is not read")


def _transform(profile: ImageCms.ImageCmsProfile, before: str) -> ImageCms.ImageCmsTransform:
    intent, flags = ImageCms.Intent.RELATIVE_COLORIMETRIC, ImageCms.Flags.BLACKPOINTCOMPENSATION
    return ImageCms.buildTransform(profile, ImageCms.createProfile("sRGB"), before, "RGB", intent, flags)


def _spread_colours() -> np.ndarray:
    """Colours spread evenly, (17, 289, 3) uint8; most sRGB profiles are copies of copies, which no sum would know."""
    steps = np.linspace(0, 255, _GRID).round().astype(np.uint8)
    return np.stack(np.meshgrid(steps, steps, steps, indexing="ij"), axis=-1).reshape(_GRID, _GRID**2, 3)


def _largest_difference(one: np.ndarray, other: np.ndarray) -> int:
    return int(np.abs(one.astype(int) - other).max())


PIXELS_A_BAND = 2**18
"""What is made of a band on its way stays in the caches of the processor."""

_SAVE_AS_8_BIT = "Save it as an 8-bit RGB picture."
_CAMERA_RANGES = (2**8 - 1, 2**10 - 1, 2**12 - 1, 2**14 - 1, 2**16 - 1)
_MODES_IN_WORDS = {
    "CMYK": "The printing colours (CMYK) were converted to RGB.",
    "LAB": "The Lab colours were converted to RGB.",
    "YCbCr": "The YCbCr colours were converted to RGB.",
    "P": "The palette colours were converted to RGB.",
    "PA": "The palette colours were converted to RGB.",
    "1": "The picture is black and white only (1 bit).",
}
_NO_COLOUR = "The picture has no colour, only grey values; a result for stained tissue would be unreliable."
_WHOLE, _SIGNED = 1, 2  # sample formats of a TIFF


@dataclass(frozen=True)
class Storage:
    """What the file's header says about its values and Pillow's picture no longer does."""

    bits: int = 8
    """Of one value."""
    wide_colours: bool = False
    """16 bits a colour, of which Pillow keeps the upper 8."""
    white_is_zero: bool = False
    """Grey values that count darkness; Pillow turns them round for 8 bits but not for more."""
    signed: bool | None = None
    """Whether whole numbers may be below zero, where the file says; Pillow forgets it for 8 and for 32 bits."""

    @classmethod
    def of(cls, picture: ImageFile.ImageFile, data: bytes) -> Storage:
        """Read it from a PNG's header or a TIFF's tags; other formats know neither."""
        if isinstance(picture, TiffImagePlugin.TiffImageFile):
            bits = max(picture.tag_v2.get(BITS, (1,)))
            signed = {_WHOLE: False, _SIGNED: True}.get(max(picture.tag_v2.get(SAMPLE_FORMAT, (_WHOLE,))))
            wide = bits > 8 and not _is_wide_grey(picture)
            return cls(bits, wide, picture.tag_v2.get(PHOTOMETRIC) == 0, signed)
        if picture.format == "PNG":
            return cls(data[24], data[24] > 8 and not _is_wide_grey(picture))
        return cls()


def to_rgb(picture: Image.Image, storage: Storage, colours: Colours) -> tuple[np.ndarray, list[str]]:
    """(H, W, 3) uint8 pixels, contiguous and our own, and the notes on what was converted."""
    if _is_wide_grey(picture) or (storage.signed and picture.mode == "L"):
        grey, notes = _scaled_grey(picture, storage)
        if colours.note is not None:
            notes.append(UNUSED if colours.note == CONVERTED else colours.note)
        return np.repeat(grey[:, :, None], 3, axis=2), [*notes, _NO_COLOUR]
    notes = [_MODES_IN_WORDS[picture.mode]] if picture.mode in _MODES_IN_WORDS else []
    pixels = np.empty((picture.height, picture.width, 3), np.uint8)
    only_grey, least, most = True, 255, 0
    for rows, band in _bands(picture):
        part, (lowest, highest) = _laid_on_white(band, colours)
        least, most = min(least, lowest), max(most, highest)
        pixels[rows] = part
        only_grey = only_grey and bool((pixels[rows] == pixels[rows][..., :1]).all())
    if most == 0:
        raise InputError("The picture is fully transparent.", "Export it again without transparency.")
    if least < 255:
        notes.append("Transparent parts were laid on white.")
    if storage.wide_colours:
        notes.append(_checked_wide(pixels))
    if colours.note:
        notes.append(colours.note)
    return pixels, [*notes, _NO_COLOUR] if only_grey else notes


def _bands(picture: Image.Image) -> Iterator[tuple[slice, Image.Image]]:
    """The picture in bands from top to bottom: the rows each has, and the band."""
    rows = max(1, PIXELS_A_BAND // picture.width)
    for top in range(0, picture.height, rows):
        below = min(top + rows, picture.height)
        yield slice(top, below), picture.crop((0, top, picture.width, below))


def _laid_on_white(part: Image.Image, colours: Colours) -> tuple[np.ndarray, tuple[int, int]]:
    """A band in sRGB, and its least and most opacity; paper-white shows through, hidden colours never do."""
    if not part.has_transparency_data:
        to_srgb = lab_to_srgb().apply if part.mode == "LAB" else colours.from_inks
        pixels = np.asarray(to_srgb(part) if to_srgb else part.convert("RGB"))
        return (colours.convert(pixels) if colours.convert else pixels), (255, 255)
    values = np.asarray((part.convert("LA") if part.mode == "La" else part).convert("RGBA"))
    pixels, opacity = cv2.cvtColor(values, cv2.COLOR_RGBA2RGB), cv2.extractChannel(values, 3)
    if colours.convert:
        pixels = colours.convert(pixels)
    lowest, highest = int(opacity.min()), int(opacity.max())
    return (on_white(pixels, opacity) if lowest < 255 else pixels), (lowest, highest)


def on_white(pixels: np.ndarray, opacity: np.ndarray) -> np.ndarray:
    """(H, W, 3) uint8 colours of an opacity (H, W) from 0 to 255 as they look on white paper."""
    darkness = cv2.bitwise_not(pixels)
    cv2.multiply(darkness, cv2.cvtColor(opacity, cv2.COLOR_GRAY2RGB), dst=darkness, scale=1 / 255)
    return np.asarray(cv2.bitwise_not(darkness, dst=darkness))


def _is_wide_grey(picture: Image.Image) -> bool:
    return picture.mode == "F" or picture.mode.startswith("I")


def _scaled_grey(picture: Image.Image, storage: Storage) -> tuple[np.ndarray, list[str]]:
    """Wide, signed and float grey values as 8 bits, scaled by the smallest usual range that holds them all.

    A camera of 12 bits writes 0..4095 into 16 bits: dividing by 65,535 would leave a black picture.
    """
    values, is_float = np.asarray(picture), picture.mode == "F"
    if picture.mode == "L":
        values = values.view(np.int8)
    elif picture.mode == "I" and storage.bits == 32 and storage.signed is False:
        values = values.view(np.uint32)
    lowest, highest = float(values.min()), float(values.max())
    if not np.isfinite(lowest + highest):
        raise InputError("The picture has values that are not numbers (NaN or infinite).", _SAVE_AS_8_BIT)
    fitting = [top for top in ((1, 255, 65535) if is_float else _CAMERA_RANGES) if highest <= top]
    if lowest < 0 or not fitting:
        raise InputError(
            f"The grey values reach from {lowest:g} to {highest:g}, which fits no known brightness scale.",
            _SAVE_AS_8_BIT,
        )
    scaled = values.astype(np.float32)
    scaled *= 255.0 / fitting[0]
    grey = np.rint(scaled, out=scaled).astype(np.uint8)
    if storage.white_is_zero:
        np.subtract(255, grey, out=grey)
    if fitting[0] == 255 and storage.bits == 8:
        return grey, []
    kind = "Float" if is_float else f"{storage.bits}-bit"
    return grey, [f"{kind} grey values were scaled from 0–{fitting[0]} to 0–255."]


def _checked_wide(pixels: np.ndarray) -> str:
    """Colours of 12 or 14 bits in a 16-bit file lie in its lower part, which Pillow has thrown away."""
    if pixels.max() < 64:
        raise InputError(
            "The colours are stored in 16 bits of which the upper ones are empty; only black would be left.",
            _SAVE_AS_8_BIT,
        )
    return "16-bit colours were reduced to 8 bits."
