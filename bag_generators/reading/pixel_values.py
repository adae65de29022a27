"""Any way a picture file stores its values (grey, 16 bit, float, palette, ink, transparency) → 8-bit RGB.

Nothing is clipped silently: values are scaled by the range they were stored in, and a note says so.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageFile, TiffImagePlugin

from bag_generators.errors import InputError

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


@dataclass(frozen=True)
class Storage:
    """What the file's header says about its values and Pillow's picture no longer does."""

    wide_colours: bool
    """16 bits a colour, of which Pillow keeps the upper 8."""
    white_is_zero: bool
    """Grey values that count darkness; Pillow turns them round for 8 bits but not for more."""

    @classmethod
    def of(cls, picture: ImageFile.ImageFile, data: bytes) -> Storage:
        """Read it from a PNG's header or a TIFF's tags; other formats know neither."""
        if isinstance(picture, TiffImagePlugin.TiffImageFile):
            bits_per_sample, photometric = 258, 262
            bits = max(picture.tag_v2.get(bits_per_sample, (1,)))
            return cls(bits > 8 and not _is_wide_grey(picture), picture.tag_v2.get(photometric) == 0)
        if picture.format == "PNG":
            return cls(data[24] > 8 and not _is_wide_grey(picture), False)
        return cls(False, False)


def to_rgb(picture: Image.Image, storage: Storage) -> tuple[np.ndarray, list[str]]:
    """(H, W, 3) uint8 pixels, contiguous and our own, and the notes on what was converted."""
    if _is_wide_grey(picture):
        grey, note = _scaled_grey(picture)
        if storage.white_is_zero:
            grey = 255 - grey
        return np.repeat(grey[:, :, None], 3, axis=2), [note, _NO_COLOUR]
    notes = [_MODES_IN_WORDS[picture.mode]] if picture.mode in _MODES_IN_WORDS else []
    if picture.has_transparency_data:
        pixels, transparency_notes = _composited_on_white(picture.convert("RGBA"))
        notes += transparency_notes
    else:
        pixels = _array(picture)
    if storage.wide_colours:
        notes.append(_checked_wide(pixels))
    if _is_grey(pixels):
        notes.append(_NO_COLOUR)
    return pixels, notes


def _is_wide_grey(picture: Image.Image) -> bool:
    return picture.mode == "F" or picture.mode.startswith("I")


def _scaled_grey(picture: Image.Image) -> tuple[np.ndarray, str]:
    """16-bit, 32-bit and float grey values as 8 bits, scaled by the smallest usual range that holds them all.

    A camera of 12 bits writes 0..4095 into 16 bits: dividing by 65,535 would leave a black picture.
    """
    values = np.array(picture, dtype=np.float32)
    if not np.isfinite(values).all():
        raise InputError("The picture has values that are not numbers (NaN or infinite).", _SAVE_AS_8_BIT)
    lowest, highest = float(values.min()), float(values.max())
    is_float = picture.mode == "F"
    ranges = (1, 255, 65535) if is_float else _CAMERA_RANGES
    fitting = [top for top in ranges if highest <= top]
    if lowest < 0 or not fitting:
        raise InputError(
            f"The grey values reach from {lowest:g} to {highest:g}, which fits no known brightness scale.",
            _SAVE_AS_8_BIT,
        )
    values *= 255.0 / fitting[0]
    np.rint(values, out=values)
    kind = "Float" if is_float else "16-bit"
    return values.astype(np.uint8), f"{kind} grey values were scaled from 0–{fitting[0]} to 0–255."


def _composited_on_white(picture: Image.Image) -> tuple[np.ndarray, list[str]]:
    """Paper-white shows through; the hidden colours of transparent pixels never do."""
    lowest, highest = picture.getchannel("A").getextrema()
    if highest == 0:
        raise InputError("The picture is fully transparent.", "Export it again without transparency.")
    if lowest == 255:
        return _array(picture), []
    paper = Image.new("RGBA", picture.size, "white")
    paper.alpha_composite(picture)
    return _array(paper), ["Transparent parts were laid on white."]


def _array(picture: Image.Image) -> np.ndarray:
    """RGB values without a copy more than needed: of forty million pixels each takes 120 MB."""
    return np.ascontiguousarray(picture if picture.mode == "RGB" else picture.convert("RGB"))


def _checked_wide(pixels: np.ndarray) -> str:
    """Colours of 12 or 14 bits in a 16-bit file lie in its lower part, which Pillow has thrown away."""
    if pixels.max() < 64:
        raise InputError(
            "The colours are stored in 16 bits of which the upper ones are empty; only black would be left.",
            _SAVE_AS_8_BIT,
        )
    return "16-bit colours were reduced to 8 bits."


def _is_grey(pixels: np.ndarray) -> bool:
    sample = pixels[::16, ::16]
    return all(
        np.array_equal(part[..., 0], part[..., 1]) and np.array_equal(part[..., 1], part[..., 2])
        for part in (sample, pixels)
    )
