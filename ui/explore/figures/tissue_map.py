"""The overview of a large picture: where the field of view lies, and the class of every tile."""

from dataclasses import dataclass

import plotly.graph_objects as go

from bag_generators import TissueImage
from elimipl.labels import LabelSpace
from ui.figures.map_colours import class_colours
from ui.figures.plain_text import plain
from ui.figures.tissue import picture_figure
from ui.frame.palette import Palette

OVERVIEW_SIDE = 480  # px
CLICK_TARGETS = 18  # per side: fine enough to aim, few enough to stay light


@dataclass(frozen=True)
class MapTile:
    """One classified tile: upper left corner in picture pixels, class and its probability."""

    x: int
    y: int
    index: int
    probability: float


def tile_positions(width: int, height: int, size: int) -> list[tuple[int, int]]:
    """Corners of the whole tiles of a picture, left to right, then top to bottom."""
    return [(x, y) for y in range(0, height - size + 1, size) for x in range(0, width - size + 1, size)]


def overview_figure(
    image: TissueImage,
    corner: tuple[int, int] | None,
    size: int,
    palette: Palette,
    classified: list[MapTile],
    labels: LabelSpace,
) -> go.Figure:
    """The whole picture with the field of view as a frame; classified tiles in the colour of their class."""
    figure = picture_figure(image, long_side=OVERVIEW_SIDE)
    figure.update_layout(height=340, showlegend=bool(classified))
    if classified:
        _add_classes(figure, classified, size, labels)
    else:
        _add_click_targets(figure, image, size)
    if corner is not None:
        x, y = corner
        box = {"x0": x, "y0": y, "x1": x + size, "y1": y + size}
        figure.add_shape(type="rect", line={"color": "white", "width": 5}, **box)
        figure.add_shape(type="rect", line={"color": palette.chosen, "width": 2.5}, **box)
    return figure


def _add_classes(figure: go.Figure, classified: list[MapTile], size: int, labels: LabelSpace) -> None:
    for index in sorted({tile.index for tile in classified}):
        members = [tile for tile in classified if tile.index == index]
        xs: list[float | None] = []
        ys: list[float | None] = []
        for tile in members:
            left, top, right, bottom = tile.x, tile.y, tile.x + size, tile.y + size
            xs.extend([left, right, right, left, left, None])
            ys.extend([top, top, bottom, bottom, top, None])
        colour, name = class_colours(labels)[index], plain(labels.legend_text(index))
        figure.add_scatter(
            x=xs,
            y=ys,
            mode="lines",
            fill="toself",
            fillcolor=_transparent(colour, 0.45),
            line={"color": colour, "width": 1.5},
            hoverinfo="skip",
            name=f"{name} ({len(members)})",
        )
        figure.add_scatter(
            x=[tile.x + size / 2 for tile in members],
            y=[tile.y + size / 2 for tile in members],
            mode="markers+text",
            marker={"symbol": "square", "size": 34, "opacity": 0},
            text=plain(labels.codes[index]),
            textfont={"size": 11, "color": "#1F1B24"},
            customdata=[[tile.x, tile.y, tile.probability] for tile in members],
            hovertemplate=name + " %{customdata[2]:.0%}<extra></extra>",
            showlegend=False,
            name="tiles",
        )
    figure.update_layout(legend={"orientation": "v", "x": 1.01, "y": 1})


def _add_click_targets(figure: go.Figure, image: TissueImage, size: int) -> None:
    """Invisible points to click: each moves the field of view so that it is centred there."""
    xs, ys, corners = [], [], []
    for row in range(CLICK_TARGETS):
        for column in range(CLICK_TARGETS):
            x = (column + 0.5) * image.width / CLICK_TARGETS
            y = (row + 0.5) * image.height / CLICK_TARGETS
            xs.append(x)
            ys.append(y)
            corners.append([_clipped(x, size, image.width), _clipped(y, size, image.height)])
    figure.add_scatter(
        x=xs,
        y=ys,
        mode="markers",
        marker={"symbol": "square", "size": 18, "opacity": 0},
        customdata=corners,
        hovertemplate="move the field of view here<extra></extra>",
        name="targets",
    )


def _clipped(centre: float, size: int, length: int) -> int:
    return max(0, min(length - size, round(centre - size / 2)))


def _transparent(colour: str, opacity: float) -> str:
    red, green, blue = (int(colour[start : start + 2], 16) for start in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity})"
