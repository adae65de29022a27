"""A white sheet for pictures, lines and letters, as PNG or as SVG: what is drawn once can be taken away as either."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Protocol
from xml.sax.saxutils import escape, quoteattr

import numpy as np
import streamlit
from PIL import Image, ImageDraw, ImageFont

SIZE, LINE = 16, 22
"""Of letters and of their lines, in px."""
_FONTS = Path(streamlit.__file__).parent / "static" / "static" / "media"


class Sheet(Protocol):
    """What can be drawn. Places and widths are px of the sheet; colours are names or hexadecimal."""

    def image(self, pixels: np.ndarray, x: int, y: int, factor: int) -> None:
        """A picture (h, w, 3) uint8, each of its pixels a square of `factor` px."""

    def line(self, corners: Sequence[tuple[float, float]], colour: str, width: float) -> None:
        """A line through corners."""

    def box(self, x: float, y: float, width: float, height: float, fill: str = "none", edge: str = "none") -> None:
        """A rectangle, filled or as an outline."""

    def text(self, x: float, y: float, said: str, colour: str, size: int = SIZE, bold: bool = False) -> None:
        """Letters whose upper left corner lies at (x, y)."""

    def file(self) -> bytes:
        """The sheet as a file."""


class PngSheet:
    """A sheet of pixels."""

    def __init__(self, width: int, height: int) -> None:
        self._picture = Image.new("RGB", (width, height), "white")
        self._draw = ImageDraw.Draw(self._picture)

    def image(self, pixels: np.ndarray, x: int, y: int, factor: int) -> None:
        large = pixels.repeat(factor, axis=0).repeat(factor, axis=1) if factor > 1 else pixels
        self._picture.paste(Image.fromarray(large), (x, y))

    def line(self, corners: Sequence[tuple[float, float]], colour: str, width: float) -> None:
        self._draw.line([*corners], colour, max(1, round(width)))

    def box(self, x: float, y: float, width: float, height: float, fill: str = "none", edge: str = "none") -> None:
        inside, outline = (None if colour == "none" else colour for colour in (fill, edge))
        self._draw.rectangle((x, y, x + width, y + height), inside, outline)

    def text(self, x: float, y: float, said: str, colour: str, size: int = SIZE, bold: bool = False) -> None:
        self._draw.text((x, y), said, colour, font(size, bold))

    def file(self) -> bytes:
        out = io.BytesIO()
        self._picture.save(out, "PNG")
        return out.getvalue()


class SvgSheet:
    """A sheet of shapes, without scripts or references; pictures lie in it as PNG."""

    def __init__(self, width: int, height: int) -> None:
        size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
        self._parts = [f'<svg xmlns="http://www.w3.org/2000/svg" {size}>']
        self.box(0, 0, width, height, "white")

    def image(self, pixels: np.ndarray, x: int, y: int, factor: int) -> None:
        out = io.BytesIO()
        Image.fromarray(pixels).save(out, "PNG")
        data = base64.b64encode(out.getvalue()).decode("ascii")
        height, width = (factor * length for length in pixels.shape[:2])
        self._parts.append(
            f'<image x="{x}" y="{y}" width="{width}" height="{height}" style="image-rendering:pixelated" '
            f'href="data:image/png;base64,{data}"/>'
        )

    def line(self, corners: Sequence[tuple[float, float]], colour: str, width: float) -> None:
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)
        self._parts.append(
            f'<polyline points="{points}" fill="none" stroke={quoteattr(colour)} stroke-width="{width:g}" '
            'stroke-linejoin="round"/>'
        )

    def box(self, x: float, y: float, width: float, height: float, fill: str = "none", edge: str = "none") -> None:
        look = f"fill={quoteattr(fill)} stroke={quoteattr(edge)}"
        self._parts.append(f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" {look}/>')

    def text(self, x: float, y: float, said: str, colour: str, size: int = SIZE, bold: bool = False) -> None:
        weight = 600 if bold else 400
        look = f'font-family="Source Sans 3, Arial, sans-serif" font-size="{size}" font-weight="{weight}"'
        self._parts.append(
            f'<text x="{x:g}" y="{y + 0.95 * size:g}" fill={quoteattr(colour)} {look}>{escape(said)}</text>'
        )

    def file(self) -> bytes:
        return "\n".join([*self._parts, "</svg>"]).encode()


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
