"""The figure to take away, for a slide or a paper: map, original, bars, scale bar, legend and caption on one sheet."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import date

import numpy as np
from PIL import Image, ImageDraw

from elimipl_app.charts.contours import Contour, dashes
from elimipl_app.charts.map_layer import Layer, at, blended
from elimipl_app.charts.tissue import outline_lines
from elimipl_app.explore import exports
from elimipl_app.explore import texts as page_texts
from elimipl_app.explore.analysis import Analysis, ViewState
from elimipl_app.explore.answer import bar_groups
from elimipl_app.explore.maps import VEIL, LegendEntry, Panel, panels_of, veil_of, vote_codes
from elimipl_app.explore.sheet import LINE, PngSheet, Sheet, SvgSheet, font, wrapped
from elimipl_app.shell import texts
from elimipl_app.shell.palette import LIGHT

BAND = 64  # px; a large picture is blended in bands, all of it as floats would take gigabytes
AT_LEAST = 640  # px; every pixel of a smaller picture becomes a square of several
SIDE, GAP = 250, 16  # px
BAR_WIDTH, BAR_HEIGHT = 18, 300
NAMES, LONGEST_BAR = 320, 260
"""Where the bars of the classes begin, and how long that of 100 % is."""
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
    for line, colour, width in _strokes(contours, DASH):
        draw.line([tuple(corner) for corner in line.tolist()], colour, width)
    return np.asarray(Image.blend(Image.fromarray(pixels), picture, opacity))


def _strokes(contours: tuple[Contour, ...], dash: float) -> Iterator[tuple[np.ndarray, str, int]]:
    """Line (v, 2) in px of the picture, colour and width, in the order in which they are drawn."""
    for contour in contours:
        broken = [piece for line in contour.lines for piece in dashes(line, dash)] if contour.dashed else contour.lines
        for lines, colour, width in (
            (contour.lines, "white", 4),
            (broken, contour.colour, 2),
            (contour.peaks, "white", 3),
            (contour.peaks, contour.colour, 1),
        ):
            yield from ((line, colour, width) for line in lines)


def _draw_contours(sheet: Sheet, contours: tuple[Contour, ...], left: int, factor: int) -> None:
    """The lines at the size of the sheet, so that they are smooth where the picture is enlarged."""
    for line, colour, width in _strokes(contours, 2 * DASH / factor):
        sheet.line([(left + factor * x, factor * y) for x, y in line.tolist()], colour, width + 1)


def figure_png(analysis: Analysis, view: ViewState) -> bytes:
    """The figure as pixels."""
    return _figure(analysis, view, PngSheet)


def figure_svg(analysis: Analysis, view: ViewState) -> bytes:
    """The figure with lines and letters that stay sharp at any size."""
    return _figure(analysis, view, SvgSheet)


def _figure(analysis: Analysis, view: ViewState, kind: type[PngSheet | SvgSheet]) -> bytes:
    """The map as it is set, the original, legend and scale bar; below them bars and caption, as in a paper."""
    shown = [(panel, _painted(analysis, view, replace(panel, contours=()))) for panel in panels_of(analysis, view)]
    if not any(panel.title == page_texts.ORIGINAL_TITLE for panel, _ in shown):
        shown.append((Panel(page_texts.ORIGINAL_TITLE, ()), analysis.image.pixels))
    factor = magnification(analysis.image.pixels)
    height, step = factor * analysis.image.height, factor * analysis.image.width + GAP
    width = step * len(shown) - GAP
    said = [line for one in _said(analysis, view) for line in wrapped(one, width + SIDE - 2 * GAP)]
    top = max(height, BAR_HEIGHT + 5 * LINE) + GAP
    bars = LINE * (len(analysis.labels) + 2) + GAP
    sheet: Sheet = kind(width + SIDE, top + bars + LINE * (len(said) + 2) + GAP)
    for number, (panel, pixels) in enumerate(shown):
        sheet.image(pixels, number * step, 0, factor)
        _draw_contours(sheet, panel.contours, number * step, factor)
        if panel.title:
            sheet.box(number * step, 0, font().getlength(panel.title) + 10, LINE + 4, "white")
            sheet.text(number * step + 6, 4, panel.title, LIGHT.text)
    _beside(sheet, analysis, view, width + GAP, factor)
    sheet.text(GAP, top, exports.headline(analysis, view), LIGHT.text, 22, bold=True)
    _draw_bars(sheet, analysis, view, top + LINE + 12)
    for number, line in enumerate(said, start=1):
        sheet.text(GAP, top + bars + 8 + LINE * number, line, LIGHT.text)
    return sheet.file()


def _draw_bars(sheet: Sheet, analysis: Analysis, view: ViewState, top: int) -> None:
    """The probability of each class in the colour of its group: candidate or not, in the model's own set or not."""
    prediction, answer = analysis.answer_without(view.removed)
    shares = prediction.raw if view.raw else prediction.probabilities
    groups = bar_groups(analysis, answer, LIGHT)
    for index, share in enumerate(shares.tolist()):
        y = top + LINE * index
        colour = next(group.colour for group in groups if group.members[index])
        sheet.text(GAP, y, page_texts.class_in_words(analysis.labels, index), LIGHT.text)
        sheet.box(NAMES, y + 3, max(1, share * LONGEST_BAR), LINE - 8, colour)
        sheet.text(NAMES + share * LONGEST_BAR + 8, y, f"{share:.1%}", LIGHT.text)
    for number, group in enumerate(groups if len(groups) > 1 else ()):
        x, y = NAMES + LONGEST_BAR + 80, top + number * (LINE + 4)
        sheet.box(x, y + 2, BAR_WIDTH, BAR_WIDTH, group.colour)
        sheet.text(x + BAR_WIDTH + 8, y, group.title, LIGHT.text)


def magnification(pixels: np.ndarray) -> int:
    """How many pixels of the file stand for one of the picture, per side."""
    return max(1, round(AT_LEAST / max(pixels.shape[:2])))


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
    today = date.today()
    made_of = (
        f"Model {card.called}, {today.day} {today:%B %Y}; picture sha256 {picture.sha256[:16]}…, field of "
        f"{analysis.image.width} × {analysis.image.height} px at ({analysis.view.x}, {analysis.view.y})."
    )
    return (*exports.all_sentences(analysis, view), made_of, texts.NOT_A_DEVICE)


def _beside(sheet: Sheet, analysis: Analysis, view: ViewState, left: int, factor: int) -> None:
    top = GAP
    bar, entries = exports.colour_bar(analysis, view), exports.legend(analysis, view)
    if bar is not None:
        top = _draw_scale(sheet, bar, view.opacity, left, top)
    for entry in entries:
        _draw_mark(sheet, entry, left, top)
        sheet.text(left + BAR_WIDTH + 8, top, f"{entry.name} {entry.share:.0%}", LIGHT.text)
        top += LINE + 4
    microns = analysis.image.microns_per_pixel
    fitting = [length for length in ROUND_LENGTHS if microns and factor * length / microns <= SIDE - 3 * GAP]
    if microns and fitting:
        sheet.box(left, top + GAP, round(factor * fitting[-1] / microns), 5, LIGHT.text)
        sheet.text(left, top + GAP + 8, f"{fitting[-1]} µm", LIGHT.text)


def _draw_mark(sheet: Sheet, entry: LegendEntry, left: int, top: int) -> None:
    """A filled square, or a piece of the line."""
    if not entry.stroke:
        sheet.box(left, top, BAR_WIDTH, BAR_WIDTH, entry.colour)
        return
    for part in range(3):
        if entry.stroke == "solid" or part != 1:
            x, y = left + part * BAR_WIDTH // 3, top + BAR_WIDTH // 2
            sheet.line([(x, y), (x + BAR_WIDTH // 3, y)], entry.colour, 4)


def _draw_scale(sheet: Sheet, bar: Layer, opacity: float, left: int, top: int) -> int:
    for line in wrapped(bar.title, SIDE - 2 * GAP):
        sheet.text(left, top, line, LIGHT.text)
        top += LINE
    top += 12
    colours = at(bar.scale, np.linspace(1, 0, BAR_HEIGHT))
    weight = opacity * colours[:, 3:]
    painted = np.rint(255 * (1 - weight) + colours[:, :3] * weight).astype(int).tolist()
    for row, (red, green, blue) in enumerate(painted):
        sheet.line([(left, top + row), (left + BAR_WIDTH, top + row)], f"#{red:02x}{green:02x}{blue:02x}", 1)
    sheet.box(left, top, BAR_WIDTH, BAR_HEIGHT, edge=LIGHT.muted)
    for position, text in bar.ticks:
        y = top + BAR_HEIGHT * (1 - (position - bar.low) / (1 - bar.low))
        sheet.line([(left + BAR_WIDTH, y), (left + BAR_WIDTH + 5, y)], LIGHT.muted, 1)
        sheet.text(left + BAR_WIDTH + 9, y - 11, text, LIGHT.text)
    return top + BAR_HEIGHT + GAP
