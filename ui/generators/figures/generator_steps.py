"""The stations between a picture and an instance, one small figure each."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from ui.frame.palette import Palette

Box = tuple[float, float, float, float]
HEIGHT = 214
AXES_MARGIN = {"l": 40, "r": 8, "t": 8, "b": 40}
SIDE = 224  # px of the working copy
DIRECTIONS = 8


def picture_with_frames(pixels: np.ndarray, frames: Sequence[Box], palette: Palette) -> go.Figure:
    """A picture (H, W, 3) uint8 with some boxes x0, y0, x1, y1 framed, the first one boldly."""
    figure = go.Figure(go.Image(z=pixels, hoverinfo="skip"))
    _add_frames(figure, frames, palette)
    return _square(figure, pixels.shape[1], pixels.shape[0])


def colour_grid_figure(grid: np.ndarray, frames: Sequence[Box], palette: Palette) -> go.Figure:
    """The (8, 8, 3) colour grid; frames are in cells. The first frame is the instance, the others its neighbours."""
    pixels = np.rint(grid).astype(np.uint8)
    figure = go.Figure(
        go.Image(z=pixels, hovertemplate="row %{y}, column %{x}<br>red, green, blue %{z}<extra></extra>")
    )
    _add_frames(figure, frames, palette)
    return _square(figure, pixels.shape[1], pixels.shape[0])


def map_figure(
    values: np.ndarray, palette: Palette, name: str, frames: Sequence[Box] = (), colours: str = "Cividis"
) -> go.Figure:
    """A (rows, columns) map of numbers, such as brightness of blocks or strength of gradients; frames in cells."""
    figure = go.Figure(
        go.Heatmap(
            z=values,
            colorscale=colours,
            showscale=False,
            hovertemplate=name + " %{z:.1f}<extra></extra>",
        )
    )
    _add_frames(figure, frames, palette)
    rows, columns = values.shape
    return _square(figure, columns, rows)


def swatches(colours: Sequence[Sequence[float]], names: Sequence[str], palette: Palette) -> go.Figure:
    """Mean colours as named bars, with their red, green and blue in numbers."""
    figure = go.Figure()
    order = list(range(len(names)))[::-1]
    figure.add_bar(
        x=[1.0] * len(names),
        y=[names[i] for i in order],
        orientation="h",
        marker={
            "color": [_css(colours[i]) for i in order],
            "line": {"color": palette.muted, "width": 1},
        },
        text=[" ".join(f"{value:.0f}" for value in colours[i]) for i in order],
        textposition="inside",
        insidetextanchor="middle",
        textfont={"color": [_readable_on(colours[i]) for i in order], "size": 13},
        hoverinfo="skip",
    )
    figure.update_xaxes(visible=False, range=[0, 1])
    figure.update_yaxes(ticks="")
    return _card(figure).update_layout(bargap=0.12)


def stopping_curve(ks: Sequence[int], spreads: Sequence[float], chosen: int, palette: Palette) -> go.Figure:
    """D(k) over k on a logarithmic axis; the k where the rule stopped is marked."""
    colours = [palette.chosen if k == chosen else palette.non_candidate for k in ks]
    figure = go.Figure(
        go.Scatter(
            x=list(ks),
            y=list(spreads),
            mode="lines+markers",
            line={"color": palette.non_candidate},
            marker={"size": [15 if k == chosen else 8 for k in ks], "color": colours},
            hovertemplate="k = %{x}: D = %{y:.3g}<extra></extra>",
        )
    )
    figure.add_annotation(
        x=1,
        y=1,
        xref="paper",
        yref="paper",
        xanchor="right",
        yanchor="top",
        text=f"● stopped at k = {chosen}",
        font={"size": 13},
        showarrow=False,
    )
    figure.update_xaxes(title="clusters k", dtick=1, range=[min(ks) - 0.4, max(ks) + 0.4])
    figure.update_yaxes(title="D(k)", type="log", exponentformat="power", dtick=1)
    return _card(figure)


def segments_figure(cells: np.ndarray, chosen: int, colours: np.ndarray, palette: Palette) -> go.Figure:
    """The label map (rows, columns): the chosen cluster in its mean colour, the others as greys."""
    count = int(cells.max()) + 1
    greys = np.linspace(150, 225, max(count, 2))[:count, None].repeat(3, axis=1)
    greys[chosen] = colours
    figure = go.Figure(
        go.Image(
            z=np.rint(greys[cells]).astype(np.uint8),
            customdata=cells,
            hovertemplate="instance %{customdata}<extra></extra>",
        )
    )
    return _square(figure, cells.shape[1], cells.shape[0])


def orientation_stars(descriptor: np.ndarray, palette: Palette) -> go.Figure:
    """A SIFT descriptor (128,) as it is laid out: 4 × 4 cells, each a star of 8 strokes as long as their share.

    A stroke points to where the picture gets brighter.
    """
    cells = descriptor.reshape(4, 4, DIRECTIONS)
    longest = float(cells.max()) or 1.0
    angles = np.arange(DIRECTIONS) * np.pi / 4  # anticlockwise from the right
    xs: list[float | None] = []
    ys: list[float | None] = []
    for row in range(4):
        for column in range(4):
            for angle, share in zip(angles, cells[row, column] / longest, strict=True):
                xs += [column + 0.5, column + 0.5 + 0.46 * share * float(np.cos(angle)), None]
                ys += [row + 0.5, row + 0.5 - 0.46 * share * float(np.sin(angle)), None]
    figure = go.Figure(
        go.Scatter(x=xs, y=ys, mode="lines", line={"color": palette.candidate, "width": 3}, hoverinfo="skip")
    )
    for line in range(5):
        figure.add_shape(type="line", x0=line, x1=line, y0=0, y1=4, line={"color": palette.grid, "width": 1})
        figure.add_shape(type="line", x0=0, x1=4, y0=line, y1=line, line={"color": palette.grid, "width": 1})
    figure.update_xaxes(visible=False, range=[-0.05, 4.05], constrain="domain")
    figure.update_yaxes(visible=False, range=[4.05, -0.05], scaleanchor="x", constrain="domain")
    return _card(figure).update_layout(margin={"l": 0, "r": 0, "t": 0, "b": 0})


def feature_bars(values: np.ndarray, names: Sequence[str], palette: Palette) -> go.Figure:
    """The instance's vector (d,), one bar a number, its name on pointing."""
    figure = go.Figure(
        go.Bar(
            x=list(range(1, len(values) + 1)),
            y=values,
            marker={"color": [palette.candidate if value >= 0 else palette.non_candidate for value in values]},
            customdata=list(names),
            hovertemplate="%{customdata}: %{y:.4g}<extra></extra>",
        )
    )
    figure.update_xaxes(title="number", dtick=1 if len(values) <= 9 else 3 if len(values) <= 15 else 32)
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
    for place, (x0, y0, x1, y1) in reversed(list(enumerate(frames))):  # the bold one on top
        box = {"x0": x0 - 0.5, "y0": y0 - 0.5, "x1": x1 - 0.5, "y1": y1 - 0.5}  # pixel 0 is centred on 0 in Plotly
        figure.add_shape(type="rect", line={"color": "white", "width": 4 if place == 0 else 2.5}, **box)
        figure.add_shape(
            type="rect",
            line={"color": palette.chosen if place == 0 else palette.outline, "width": 2.5 if place == 0 else 1.2},
            **box,
        )


def _square(figure: go.Figure, columns: int, rows: int) -> go.Figure:
    figure.update_xaxes(visible=False, range=[-0.5, columns - 0.5], constrain="domain")
    figure.update_yaxes(visible=False, range=[rows - 0.5, -0.5], scaleanchor="x", constrain="domain")
    return _card(figure).update_layout(margin={"l": 0, "r": 0, "t": 0, "b": 0})


def _card(figure: go.Figure) -> go.Figure:
    """The size of the small cards in a row."""
    return figure.update_layout(height=HEIGHT, margin=AXES_MARGIN, font={"size": 12}, showlegend=False)


def _css(colour: Sequence[float]) -> str:
    red, green, blue = (round(float(np.clip(value, 0, 255))) for value in colour)
    return f"rgb({red},{green},{blue})"


def _readable_on(colour: Sequence[float]) -> str:
    red, green, blue = colour
    return "#1F1B24" if 0.299 * red + 0.587 * green + 0.114 * blue > 140 else "#FFFFFF"
