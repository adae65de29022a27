"""The map of the page as one figure: the picture, the layers, what was removed or drawn, and where to click."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from bag_generators import TissueImage
from elimipl_app.charts.contours import add_contours
from elimipl_app.charts.drawing import Drawing, plain
from elimipl_app.charts.map_layer import joined
from elimipl_app.charts.tissue import add_click_targets, add_outlines, display_copy
from elimipl_app.explore import texts
from elimipl_app.explore.analysis import Analysis, View, ViewState
from elimipl_app.explore.maps import (
    VEIL,
    LegendEntry,
    contour_legend,
    drawn_contours,
    panels_of,
    veil_of,
    vote_codes,
    vote_legend,
)
from elimipl_app.shell.palette import Palette


def map_figure(analysis: Analysis, view: ViewState, scores: np.ndarray, palette: Palette) -> go.Figure:
    """The picture with the map and what else is set to stand beside it; every panel can be clicked."""
    panels = panels_of(analysis, view)
    drawing = field_drawing(analysis.view, palette, tuple(panel.title for panel in panels))
    x, y = analysis.view.x, analysis.view.y
    with_bar = max((number for number, panel in enumerate(panels) if panel.layers), default=0)
    for number, panel in enumerate(panels):
        for layer in (joined(panel.layers),) if len(panel.layers) > 1 else panel.layers:
            layer.add_to(drawing, view.opacity, x, y, panel=number + 1, with_bar=number == with_bar)
        add_contours(drawing, panel.contours, view.opacity, x, y, panel=number + 1)
    painted = len(drawing.traces)
    if view.outlined:
        add_outlines(drawing, analysis.bag, palette, x, y)
    _add_removed(drawing, analysis, view.removed, len(panels))
    add_region(drawing, [np.array(polygon) for polygon in view.region], palette.text)
    add_move_targets(drawing, analysis.view)
    add_click_targets(drawing, analysis.bag, scores, palette, texts.SOURCE_TITLES[view.kind], x, y)
    for number in range(2, len(panels) + 1):
        for trace in drawing.traces[painted:]:
            if "xaxis" not in trace:
                drawing.traces.append({**trace, "xaxis": f"x{number}", "yaxis": f"y{number}"})
    for trace in drawing.traces:
        trace["showlegend"] = False
    if view.kind == "vote" and not view.hidden:
        _add_codes(drawing, analysis, view)
        _add_legend(drawing, vote_legend(analysis))
    elif contours := drawn_contours(panels):
        _add_legend(drawing, contour_legend(contours))
    return drawing.figure()


def _add_legend(drawing: Drawing, entries: list[LegendEntry]) -> None:
    """Names and shares of what is painted."""
    for entry in entries:
        said = f"{entry.share:.0%}" if entry.share >= 0.005 else "< 1%"
        mark: dict[str, Any] = {"mode": "markers", "marker": {"symbol": "square", "size": 12, "color": entry.colour}}
        if entry.stroke:
            mark = {"mode": "lines", "line": {"color": entry.colour, "width": 2.5, "dash": entry.stroke}}
        drawing.add_scatter(
            x=[None],
            y=[None],
            **mark,
            name=f"{plain(entry.name)} {said}",
            hoverinfo="skip",
        )
    drawing.update_layout(
        showlegend=True,
        legend={"orientation": "h", "y": -0.01, "yanchor": "top", "x": 0, "itemclick": False, "itemdoubleclick": False},
    )


def _add_codes(drawing: Drawing, analysis: Analysis, view: ViewState) -> None:
    """The code of each class on its regions of the map: colour alone tells twelve classes apart to nobody."""
    codes = vote_codes(analysis.votes.beyond(view.threshold), analysis.labels)
    drawing.add_scatter(
        x=[analysis.view.x + x for x, _, _ in codes],
        y=[analysis.view.y + y for _, y, _ in codes],
        mode="markers+text",
        marker={"size": 18, "color": "white", "opacity": 0.75},
        text=[plain(code) for _, _, code in codes],
        textfont={"size": 10, "color": "#1F1B24"},
        hoverinfo="skip",
        showlegend=False,
        name="codes",
    )


def _add_removed(drawing: Drawing, analysis: Analysis, removed: tuple[int, ...], panels: int) -> None:
    """Cross out what was taken away, and cover cells."""
    if not removed:
        return
    if (veil := veil_of(analysis, removed)) is not None:
        for number in range(1, panels + 1):
            veil.add_to(drawing, VEIL, analysis.view.x, analysis.view.y, panel=number)
    centres = analysis.crosses(removed)
    for colour, width in (("white", 5), ("#1F1B24", 2.5)):
        drawing.add_scatter(
            x=analysis.view.x + centres[:, 0],
            y=analysis.view.y + centres[:, 1],
            mode="markers",
            marker={"symbol": "x-thin", "size": 14, "line": {"color": colour, "width": width}},
            hoverinfo="skip",
            showlegend=False,
            name="removed",
        )


HEIGHT = 436  # screen px, of which the colour bar takes a few
BAR_ROOM = 46
WIDEST_AT_ONCE = 2.4  # fields of view; of a larger picture the surroundings are shown, and the wheel zooms out
AROUND = 0.45  # of a field of view, shown on all sides of it in such a picture
TWO_PANELS_SIDE = 640  # px of the picture when it is sent twice
MOVE_TARGETS = 15  # per side of the whole picture
NEAR_TARGETS = 7  # per side of the surroundings
BAR_SHARE = 0.25  # of the visible width, at most, for the scale bar
NICE_LENGTHS = (5, 10, 20, 25, 50, 100, 200, 250, 500, 1000, 2000, 5000)  # µm


def field_drawing(view: View, palette: Palette, titles: tuple[str, ...] = ("",)) -> Drawing:
    """The picture in its own pixels once for each title, with the field of view framed when there is more around it."""
    drawing = Drawing()
    panels = len(titles)
    (left, right), (top, bottom) = visible_range(view)
    for number, title in enumerate(titles):
        suffix = "" if number == 0 else str(number + 1)
        _add_pictures(drawing, view, f"x{suffix}", f"y{suffix}", panels)
        wide = (1 - 0.02 * (panels - 1)) / panels
        start = number * (wide + 0.02)
        linked = {"matches": "x"} if number else {}
        drawing.layout[f"xaxis{suffix}"] = {
            "visible": False,
            "range": [left, right],
            "domain": [start, start + wide],
            **linked,
        }
        drawing.layout[f"yaxis{suffix}"] = {
            "visible": False,
            "range": [bottom, top],
            "scaleanchor": f"x{suffix}",
            "anchor": f"x{suffix}",
            **({"matches": "y"} if number else {}),
        }
        _add_frame(drawing, view, palette, f"x{suffix}", f"y{suffix}")
        if title:
            drawing.add_annotation(
                text=plain(title), x=start, xref="paper", y=1, yref="paper", xanchor="left", yanchor="top",
                showarrow=False, bgcolor="rgba(255,255,255,0.85)", font={"color": "#1F1B24", "size": 12}, borderpad=3,
            )  # fmt: skip
    _add_scale_bar(drawing, view)
    return drawing.update_layout(
        margin={"l": 0, "r": 0, "t": 0, "b": BAR_ROOM},
        uirevision=view.picture.sha256,
        showlegend=False,
        dragmode="pan",
        modebar={"bgcolor": palette.veil, "color": palette.muted, "activecolor": palette.text},
        height=HEIGHT,
    )


def visible_range(view: View) -> tuple[tuple[float, float], tuple[float, float]]:
    """What is shown at first, (left, right) and (top, bottom): the whole picture, or the field and its surroundings."""
    whole, field = view.picture, view.image
    if max(whole.width, whole.height) <= WIDEST_AT_ONCE * max(field.width, field.height):
        return (0, whole.width), (0, whole.height)
    x, y = AROUND * field.width, AROUND * field.height
    return (view.x - x, view.x + field.width + x), (view.y - y, view.y + field.height + y)


def add_move_targets(drawing: Drawing, view: View) -> None:
    """Invisible points outside the field of view; a click on one of them moves the field there."""
    whole, field = view.picture, view.image
    if view.whole is None:
        return
    (left, right), (top, bottom) = visible_range(view)
    spans = (
        (0.0, whole.width, 0.0, whole.height, MOVE_TARGETS),
        (max(0, left), min(whole.width, right), max(0, top), min(whole.height, bottom), NEAR_TARGETS),
    )
    points = {
        (round(x), round(y))
        for x0, x1, y0, y1, count in spans
        for x in np.linspace(x0, x1, 2 * count + 1)[1::2]
        for y in np.linspace(y0, y1, 2 * count + 1)[1::2]
    }
    outside = sorted(
        (x, y) for x, y in points if not (view.x <= x < view.x + field.width and view.y <= y < view.y + field.height)
    )
    drawing.add_scatter(
        x=[x for x, _ in outside],
        y=[y for _, y in outside],
        mode="markers",
        marker={"symbol": "square", "size": 20, "opacity": 0},
        unselected={"marker": {"opacity": 0}},
        customdata=[-1] * len(outside),
        hovertemplate="move the field of view here<extra></extra>",
        name="move",
    )


def add_region(drawing: Drawing, polygons: Sequence[np.ndarray], colour: str) -> None:
    """Outline what a person drew."""
    for polygon in polygons:
        closed = np.vstack([polygon, polygon[:1]])
        for line in ({"color": "white", "width": 4}, {"color": colour, "width": 2, "dash": "dash"}):
            drawing.add_scatter(
                x=closed[:, 0], y=closed[:, 1], mode="lines", line=line, hoverinfo="skip", name="region"
            )


def movable(polygon: Sequence[tuple[float, float]]) -> dict[str, Any]:
    """What a person drew, as a selection that the browser lets be dragged about: a box, or a free shape."""
    (x0, y0), (x1, y1) = np.min(polygon, axis=0).tolist(), np.max(polygon, axis=0).tolist()
    placed = {"xref": "x", "yref": "y"}
    if len(polygon) == 4 and {x for x, _ in polygon} <= {x0, x1} and {y for _, y in polygon} <= {y0, y1}:
        return {"type": "rect", "x0": x0, "y0": y0, "x1": x1, "y1": y1, **placed}
    return {"type": "path", "path": f"M{'L'.join(f'{x:.1f},{y:.1f}' for x, y in polygon)}Z", **placed}


def _add_pictures(drawing: Drawing, view: View, x_axis: str, y_axis: str, panels: int) -> None:
    """The whole picture, and over it the field of view in its own pixels where the whole had to be shrunk."""
    side = {"long_side": TWO_PANELS_SIDE} if panels > 1 else {}
    parts: list[tuple[TissueImage, int, int]] = [(view.picture, 0, 0)]
    if view.whole is not None and max(view.whole.width, view.whole.height) > 1.2 * (side.get("long_side") or 1024):
        parts.append((view.image, view.x, view.y))
    for image, x, y in parts:
        drawing.add_layout_image(
            source=display_copy(image, **side), xref=x_axis, yref=y_axis, x=x, y=y, sizex=image.width,
            sizey=image.height, sizing="stretch", layer="below",
        )  # fmt: skip


def _add_frame(drawing: Drawing, view: View, palette: Palette, x_axis: str, y_axis: str) -> None:
    if view.whole is None:
        return
    box = {"x0": view.x, "y0": view.y, "x1": view.x + view.image.width, "y1": view.y + view.image.height}
    for colour, width in (("white", 4), (palette.chosen, 2)):
        drawing.add_shape(type="rect", xref=x_axis, yref=y_axis, line={"color": colour, "width": width}, **box)


def scale_bar_microns(visible_pixels: float, microns_per_pixel: float) -> int:
    """A round length in µm that takes at most a quarter of what is seen.

    >>> scale_bar_microns(224, 0.5), scale_bar_microns(1000, 0.5)
    (25, 100)
    """
    most = BAR_SHARE * visible_pixels * microns_per_pixel
    return max((length for length in NICE_LENGTHS if length <= most), default=NICE_LENGTHS[0])


def _add_scale_bar(drawing: Drawing, view: View) -> None:
    """A bar in the lower right corner of what is shown; only where somebody knows the scale."""
    microns = view.picture.microns_per_pixel
    if microns is None or not math.isfinite(microns):
        return
    (left, right), (top, bottom) = visible_range(view)
    length = scale_bar_microns(right - left, microns)
    end, y = right - 0.03 * (right - left), bottom - 0.04 * (bottom - top)
    start = end - length / microns
    for colour, width in (("white", 7), ("black", 3)):
        drawing.add_shape(
            type="line", x0=start, x1=end, y0=y, y1=y, line={"color": colour, "width": width}, name="scale bar"
        )
    drawing.add_annotation(
        x=(start + end) / 2, y=y, text=f"{length} µm", showarrow=False, yanchor="bottom", yshift=3,
        bgcolor="rgba(255,255,255,0.85)", font={"color": "#1F1B24", "size": 12}, borderpad=1, name="scale bar",
    )  # fmt: skip
