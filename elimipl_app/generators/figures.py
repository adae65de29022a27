"""The stations between a picture and an instance, one small figure each."""

from collections.abc import Sequence
from itertools import product

import cv2
import numpy as np
import plotly.graph_objects as go

from bag_generators.generator import Box, Drawing, NumberMap, Pixels, Segments, Stars, Swatches, Tries
from elimipl_app.charts.drawing import plain
from elimipl_app.shell.palette import Palette

HEIGHT = 214
MOST_PIXELS = 224  # of a small picture's longer side; more would only be sent
FEW_CELLS = 16  # a side; the colours of larger pictures are not told one by one
AXES_MARGIN = {"l": 40, "r": 8, "t": 8, "b": 40}
NO_MARGIN = {"l": 0, "r": 0, "t": 0, "b": 0}


def step_figure(drawing: Drawing, palette: Palette) -> go.Figure:
    """One station between the picture and an instance."""
    match drawing:
        case Pixels():
            return _picture(drawing, palette)
        case NumberMap():
            return _number_map(drawing, palette)
        case Swatches():
            return _swatches(drawing, palette)
        case Tries():
            return _tries(drawing, palette)
        case Segments():
            return _segments(drawing)
        case Stars():
            return _stars(drawing, palette)


def _picture(drawing: Pixels, palette: Palette) -> go.Figure:
    pixels = np.clip(np.rint(drawing.pixels), 0, 255).astype(np.uint8)
    rows, columns = pixels.shape[:2]
    if max(rows, columns) > MOST_PIXELS:
        factor = MOST_PIXELS / max(rows, columns)
        pixels = cv2.resize(pixels, None, fx=factor, fy=factor, interpolation=cv2.INTER_AREA)
    hover = "row %{y}, column %{x}<br>red, green, blue %{z}<extra></extra>" if rows <= FEW_CELLS else None
    right, down = pixels.shape[1] / columns, pixels.shape[0] / rows
    figure = go.Figure(go.Image(z=pixels, hovertemplate=hover, hoverinfo=None if hover else "skip"))
    _add_frames(figure, [(x0 * right, y0 * down, x1 * right, y1 * down) for x0, y0, x1, y1 in drawing.frames], palette)
    return _square(figure, pixels.shape[1], pixels.shape[0])


def _number_map(drawing: NumberMap, palette: Palette) -> go.Figure:
    figure = go.Figure(
        go.Heatmap(
            z=drawing.values,
            colorscale="Greys_r" if drawing.grey else "Cividis",
            showscale=False,
            hovertemplate=plain(drawing.name) + " %{z:.1f}<extra></extra>",
        )
    )
    _add_frames(figure, drawing.frames, palette)
    rows, columns = drawing.values.shape
    return _square(figure, columns, rows)


def _swatches(drawing: Swatches, palette: Palette) -> go.Figure:
    """Mean colours as named bars, with their red, green and blue in numbers."""
    shown = list(zip(drawing.names, drawing.colours, strict=True))[::-1]  # Plotly begins at the bottom
    figure = go.Figure()
    figure.add_bar(
        x=[1.0] * len(shown),
        y=[plain(name) for name, _ in shown],
        orientation="h",
        marker={"color": [_css(colour) for _, colour in shown], "line": {"color": palette.muted, "width": 1}},
        text=[" ".join(f"{value:.0f}" for value in colour) for _, colour in shown],
        textposition="inside",
        insidetextanchor="middle",
        textfont={"color": [_readable_on(colour) for _, colour in shown], "size": 13},
        hoverinfo="skip",
    )
    figure.update_xaxes(visible=False, range=[0, 1])
    figure.update_yaxes(showgrid=False)
    return _card(figure).update_layout(bargap=0.12)


def _tries(drawing: Tries, palette: Palette) -> go.Figure:
    """Results on a logarithmic axis; what was kept is marked."""
    tried = list(drawing.tried)
    figure = go.Figure(
        go.Scatter(
            x=tried,
            y=list(drawing.results),
            mode="lines+markers",
            line={"color": palette.non_candidate},
            marker={
                "size": [15 if one == drawing.kept else 8 for one in tried],
                "color": [palette.chosen if one == drawing.kept else palette.non_candidate for one in tried],
            },
            hovertemplate=f"{plain(drawing.tried_name)} = %{{x}}: {plain(drawing.result_name)} = %{{y:.3g}}"
            "<extra></extra>",
        )
    )
    figure.add_annotation(
        x=1,
        y=1,
        xref="paper",
        yref="paper",
        xanchor="right",
        yanchor="top",
        text=f"● stopped at {drawing.kept}",
        font={"size": 13},
        showarrow=False,
    )
    figure.update_xaxes(title=plain(drawing.tried_name), dtick=1, range=[min(tried) - 0.4, max(tried) + 0.4])
    figure.update_yaxes(title=plain(drawing.result_name), type="log", exponentformat="power", dtick=1)
    return _card(figure)


def _segments(drawing: Segments) -> go.Figure:
    """The chosen segment in its colour, the others as greys."""
    cells = drawing.cells
    count = int(cells.max()) + 1
    greys = np.linspace(150, 225, max(count, 2))[:count, None].repeat(3, axis=1)
    greys[drawing.chosen] = drawing.colour
    figure = go.Figure(
        go.Image(
            z=np.rint(greys[cells]).astype(np.uint8),
            customdata=cells,
            hovertemplate="instance %{customdata}<extra></extra>",
        )
    )
    return _square(figure, cells.shape[1], cells.shape[0])


def _stars(drawing: Stars, palette: Palette) -> go.Figure:
    """A star in each cell, its strokes as long as their share; a stroke points to where the picture gets brighter."""
    rows, columns, directions = drawing.strengths.shape
    longest = float(drawing.strengths.max()) or 1.0
    angles = np.arange(directions) * 2 * np.pi / directions
    xs: list[float | None] = []
    ys: list[float | None] = []
    for row, column in product(range(rows), range(columns)):
        for angle, share in zip(angles, drawing.strengths[row, column] / longest, strict=True):
            xs += [column + 0.5, column + 0.5 + 0.46 * share * float(np.cos(angle)), None]
            ys += [row + 0.5, row + 0.5 - 0.46 * share * float(np.sin(angle)), None]
    figure = go.Figure(
        go.Scatter(x=xs, y=ys, mode="lines", line={"color": palette.candidate, "width": 3}, hoverinfo="skip")
    )
    for x in range(columns + 1):
        figure.add_shape(type="line", x0=x, x1=x, y0=0, y1=rows, line={"color": palette.grid, "width": 1})
    for y in range(rows + 1):
        figure.add_shape(type="line", x0=0, x1=columns, y0=y, y1=y, line={"color": palette.grid, "width": 1})
    figure.update_xaxes(visible=False, range=[-0.05, columns + 0.05], constrain="domain")
    figure.update_yaxes(visible=False, range=[rows + 0.05, -0.05], scaleanchor="x", constrain="domain")
    return _card(figure).update_layout(margin=NO_MARGIN)


def feature_bars(values: np.ndarray, names: Sequence[str], palette: Palette) -> go.Figure:
    """The instance's vector (d,), one bar a number, its name on pointing."""
    figure = go.Figure(
        go.Bar(
            x=list(range(1, len(values) + 1)),
            y=values,
            marker={"color": [palette.candidate if value >= 0 else palette.non_candidate for value in values]},
            customdata=[plain(name) for name in names],
            hovertemplate="%{customdata}: %{y:.4g}<extra></extra>",
        )
    )
    figure.update_xaxes(
        title="number", dtick=1 if len(values) <= 9 else 3 if len(values) <= 15 else max(1, len(values) // 4)
    )
    figure.update_yaxes(zeroline=True, nticks=5)
    return _card(figure)


def scale_bar(end: float, title: str, colours: str, palette: Palette) -> go.Figure:
    """The one colour scale of several maps, from 0 to `end`, lying down."""
    figure = go.Figure(
        go.Heatmap(
            x=np.linspace(0, end, 129), y=[0, 1], z=[np.linspace(0, 1, 128)], colorscale=colours, showscale=False,
            hoverinfo="skip",
        )
    )  # fmt: skip
    figure.update_xaxes(title={"text": title, "standoff": 4}, range=[0, end], nticks=6)
    figure.update_yaxes(visible=False)
    return _card(figure).update_layout(height=66, margin={"l": 10, "r": 14, "t": 2, "b": 40})


def _add_frames(figure: go.Figure, frames: Sequence[Box], palette: Palette) -> None:
    for number, (x0, y0, x1, y1) in reversed(list(enumerate(frames))):  # the bold one on top
        box = {"x0": x0 - 0.5, "y0": y0 - 0.5, "x1": x1 - 0.5, "y1": y1 - 0.5}  # pixel 0 is centred on 0 in Plotly
        figure.add_shape(type="rect", line={"color": "white", "width": 4 if number == 0 else 2.5}, **box)
        figure.add_shape(
            type="rect",
            line={"color": palette.chosen if number == 0 else palette.outline, "width": 2.5 if number == 0 else 1.2},
            **box,
        )


def _square(figure: go.Figure, columns: int, rows: int) -> go.Figure:
    figure.update_xaxes(visible=False, range=[-0.5, columns - 0.5], constrain="domain")
    figure.update_yaxes(visible=False, range=[rows - 0.5, -0.5], scaleanchor="x", constrain="domain")
    return _card(figure).update_layout(margin=NO_MARGIN)


def _card(figure: go.Figure) -> go.Figure:
    """The size of the small cards in a row."""
    return figure.update_layout(height=HEIGHT, margin=AXES_MARGIN, font={"size": 12}, showlegend=False)


def _css(colour: np.ndarray) -> str:
    red, green, blue = (round(float(np.clip(value, 0, 255))) for value in colour)
    return f"rgb({red},{green},{blue})"


def _readable_on(colour: np.ndarray) -> str:
    red, green, blue = colour
    return "#1F1B24" if 0.299 * red + 0.587 * green + 0.114 * blue > 140 else "#FFFFFF"
