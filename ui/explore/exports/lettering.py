"""The letters of pictures that are taken away: the font of the page, and lines that fit."""

from functools import lru_cache
from pathlib import Path

import streamlit
from PIL import ImageFont

SIZE = 16
_FONTS = Path(streamlit.__file__).parent / "static" / "static" / "media"


@lru_cache(maxsize=8)
def font(size: int = SIZE, bold: bool = False) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """The font of the page; Pillow's own where Streamlit comes without it."""
    files = sorted(_FONTS.glob("SourceSansVF-Upright*.woff2"))
    try:
        letters = ImageFont.truetype(str(files[0]), size)
        letters.set_variation_by_name("Semibold" if bold else "Regular")
    except (IndexError, OSError, NotImplementedError):  # another version of Streamlit, or a FreeType without woff2
        return ImageFont.load_default(size)
    return letters


def wrapped(text: str, width: int) -> list[str]:
    """A text in lines of at most `width` px; a word that is longer stands alone."""
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and font().getlength(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines
