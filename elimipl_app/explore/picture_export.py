"""The field of view with its map as one PNG, panel by panel as on the page: for a slide or a report."""

import io
from functools import lru_cache
from pathlib import Path

import numpy as np
import streamlit
from PIL import Image, ImageDraw, ImageFont

from elimipl_app.charts.contours import Contour, dashes
from elimipl_app.charts.map_layer import Layer, at, blended
from elimipl_app.charts.tissue import outline_lines
from elimipl_app.explore import exports
from elimipl_app.explore.analysis import Analysis, ViewState
from elimipl_app.explore.maps import VEIL, LegendEntry, Panel, panels_of, veil_of, vote_codes
from elimipl_app.shell import texts
from elimipl_app.shell.palette import LIGHT

BAND = 64  # px; a large picture is blended in bands, all of it as floats would take gigabytes
AT_LEAST = 640  # px; every pixel of a smaller picture becomes a square of several
SIDE, GAP, LINE = 250, 16, 22  # px
BAR_WIDTH, BAR_HEIGHT = 18, 300
DASH = 6  # px of the picture
ROUND_LENGTHS = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000)  # µm
OUTLINE = ((255, 255, 255), 3), ((0, 32, 77), 1)
REGION = ((255, 255, 255), 3), ((31, 27, 36), 1)
CROSS = ((255, 255, 255), 2), ((31, 27, 36), 1)
"""Colours and widths, as parts of the length of an arm."""


def painted_panels(analysis: Analysis, view: ViewState) -> list[tuple[str, np.ndarray]]:
    """Title and (H, W, 3) uint8 of each panel: the field of view as it is painted on the page.

    What no patch covers stays as it is.
    """
    return [(panel.title, _painted(analysis, view, panel)) for panel in panels_of(analysis, view)]


def _painted(analysis: Analysis, view: ViewState, panel: Panel) -> np.ndarray:
    pixels = np.empty_like(analysis.image.pixels)
    veil = veil_of(analysis, view.removed)
    for top in range(0, len(pixels), BAND):
        rows = slice(top, top + BAND)
        pixels[rows] = blended(analysis.image.pixels, panel.layers, view.opacity, rows)
        if veil is not None:
            pixels[rows] = blended(pixels, (veil,), VEIL, rows)
    if panel.contours:
        pixels = _with_contours(pixels, panel.contours, view.opacity)
    lettered = bool(panel.layers) and view.kind == "vote"
    if lettered or view.outlined or view.removed or view.region:
        return _with_lines(analysis, view, pixels, lettered)
    return pixels


def _with_contours(pixels: np.ndarray, contours: tuple[Contour, ...], opacity: float) -> np.ndarray:
    """The lines on white, in the order of the page."""
    picture = Image.fromarray(pixels)
    draw = ImageDraw.Draw(picture)
    for contour in contours:
        broken = [piece for line in contour.lines for piece in dashes(line, DASH)] if contour.dashed else contour.lines
        for lines, colour, width in (
            (contour.lines, "white", 4),
            (broken, contour.colour, 2),
            (contour.peaks, "white", 3),
            (contour.peaks, contour.colour, 1),
        ):
            for line in lines:
                draw.line([tuple(corner) for corner in line.tolist()], colour, width)
    return np.asarray(Image.blend(Image.fromarray(pixels), picture, opacity))


def painted_png(analysis: Analysis, view: ViewState) -> bytes:
    """The same with its colour bar or legend, what was set, and what the checks say."""
    panels = painted_panels(analysis, view)
    factor = magnification(analysis.image.pixels)
    height, step = factor * analysis.image.height, factor * analysis.image.width + GAP
    width = step * len(panels) - GAP
    said = [line for one in _said(analysis, view) for line in wrapped(one, width + SIDE - 2 * GAP)]
    picture_height = max(height, BAR_HEIGHT + 5 * LINE)
    canvas = Image.new("RGB", (width + SIDE, picture_height + LINE * (len(said) + 2) + 2 * GAP), "white")
    draw = ImageDraw.Draw(canvas)
    for number, (title, pixels) in enumerate(panels):
        large = pixels.repeat(factor, axis=0).repeat(factor, axis=1) if factor > 1 else pixels
        canvas.paste(Image.fromarray(large), (number * step, 0))
        if title:
            _write_title(draw, title, number * step)
    _beside(draw, analysis, view, width + GAP, factor)
    top = picture_height + GAP
    draw.text((GAP, top), exports.headline(analysis, view), LIGHT.text, font(22, bold=True))
    for number, line in enumerate(said, start=1):
        draw.text((GAP, top + 8 + LINE * number), line, LIGHT.text, font())
    out = io.BytesIO()
    canvas.save(out, "PNG")
    return out.getvalue()


def magnification(pixels: np.ndarray) -> int:
    """How many pixels of the file stand for one of the picture, per side."""
    return max(1, round(AT_LEAST / max(pixels.shape[:2])))


def _write_title(draw: ImageDraw.ImageDraw, title: str, left: int) -> None:
    x, y = left + 6, 4
    draw.rectangle((left, 0, x + font().getlength(title) + 6, y + LINE), "white")
    draw.text((x, y), title, LIGHT.text, font())


def _with_lines(analysis: Analysis, view: ViewState, pixels: np.ndarray, lettered: bool) -> np.ndarray:
    """Outlines where they are set, the region, a cross on removed patches and the codes of the vote, as on the page."""
    picture = Image.fromarray(pixels)
    draw = ImageDraw.Draw(picture)
    for colour, width in OUTLINE if view.outlined else ():
        for line in outline_lines(analysis.bag):
            draw.line([tuple(corner) for corner in line.tolist()], colour, width)
    for polygon in view.region:
        corners = [(x - analysis.view.x, y - analysis.view.y) for x, y in (*polygon, polygon[0])]
        for colour, width in REGION:
            draw.line(corners, colour, width)
    arm = max(3, max(pixels.shape[:2]) // 80)
    for x, y in analysis.crosses(view.removed) if view.removed else ():
        for colour, part in CROSS:
            width = max(1, arm * part // 3)
            draw.line((x - arm, y - arm, x + arm, y + arm), colour, width)
            draw.line((x - arm, y + arm, x + arm, y - arm), colour, width)
    for x, y, code in vote_codes(analysis.votes.beyond(view.threshold), analysis.labels) if lettered else ():
        size = max(10, max(pixels.shape[:2]) // 32)
        draw.text((x, y), code, LIGHT.text, font(size), "mm", stroke_width=2, stroke_fill="white")
    return np.asarray(picture)


def _said(analysis: Analysis, view: ViewState) -> tuple[str, ...]:
    card, picture = analysis.predictor.card, analysis.view.picture
    made_of = (
        f"Model {card.called}; picture sha256 {picture.sha256[:16]}…, field of {analysis.image.width} × "
        f"{analysis.image.height} px at ({analysis.view.x}, {analysis.view.y})."
    )
    return (*exports.all_sentences(analysis, view), made_of, texts.NOT_A_DEVICE)


def _beside(draw: ImageDraw.ImageDraw, analysis: Analysis, view: ViewState, left: int, factor: int) -> None:
    top = GAP
    bar, entries = exports.colour_bar(analysis, view), exports.legend(analysis, view)
    if bar is not None:
        top = _draw_bar(draw, bar, view.opacity, left, top)
    for entry in entries:
        _draw_mark(draw, entry, left, top)
        draw.text((left + BAR_WIDTH + 8, top), f"{entry.name} {entry.share:.0%}", LIGHT.text, font())
        top += LINE + 4
    if analysis.image.microns_per_pixel is not None:
        _draw_scale_bar(draw, analysis.image.microns_per_pixel / factor, left, top + GAP)


def _draw_mark(draw: ImageDraw.ImageDraw, entry: LegendEntry, left: int, top: int) -> None:
    """A filled square, or a piece of the line."""
    if not entry.stroke:
        draw.rectangle((left, top, left + BAR_WIDTH, top + BAR_WIDTH), entry.colour)
        return
    for part in range(3):
        if entry.stroke == "solid" or part != 1:
            x, y = left + part * BAR_WIDTH // 3, top + BAR_WIDTH // 2
            draw.line((x, y, x + BAR_WIDTH // 3, y), entry.colour, 4)


def _draw_bar(draw: ImageDraw.ImageDraw, bar: Layer, opacity: float, left: int, top: int) -> int:
    for line in wrapped(bar.title, SIDE - 2 * GAP):
        draw.text((left, top), line, LIGHT.text, font())
        top += LINE
    top += 12
    colours = at(bar.scale, np.linspace(1, 0, BAR_HEIGHT))
    weight = opacity * colours[:, 3:]
    for row, colour in enumerate(np.rint(255 * (1 - weight) + colours[:, :3] * weight).astype(int).tolist()):
        draw.line((left, top + row, left + BAR_WIDTH, top + row), tuple(colour))
    draw.rectangle((left, top, left + BAR_WIDTH, top + BAR_HEIGHT), outline=LIGHT.muted)
    for position, text in bar.ticks:
        y = top + BAR_HEIGHT * (1 - (position - bar.low) / (1 - bar.low))
        draw.line((left + BAR_WIDTH, y, left + BAR_WIDTH + 5, y), LIGHT.muted)
        draw.text((left + BAR_WIDTH + 9, y), text, LIGHT.text, font(), anchor="lm")
    return top + BAR_HEIGHT + GAP


def _draw_scale_bar(draw: ImageDraw.ImageDraw, microns_per_pixel: float, left: int, top: int) -> None:
    fitting = [length for length in ROUND_LENGTHS if length / microns_per_pixel <= SIDE - 3 * GAP]
    if not fitting:
        return
    draw.rectangle((left, top, left + round(fitting[-1] / microns_per_pixel), top + 5), LIGHT.text)
    draw.text((left, top + 8), f"{fitting[-1]} µm", LIGHT.text, font())


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
