"""The tissue map of a large picture: the model's answer for every tile."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import plotly.graph_objects as go
import streamlit as st

from bag_generators import InputError, TissueImage, tiles
from bag_generators.scale import field_size
from elimipl.labels import LabelSpace
from elimipl.predictor import Predictor
from ui.explore import texts
from ui.explore.analysis import Analysis
from ui.explore.picture import move_to
from ui.figures.drawing import plain
from ui.figures.map_layer import class_colours
from ui.figures.tissue import picture_figure
from ui.frame import charts
from ui.frame import texts as shared
from ui.frame.cached import bag_of
from ui.frame.page import show_error
from ui.frame.palette import Palette, current_palette

MOST_TILES = 900


def show_tiles(analysis: Analysis) -> None:
    """The whole picture with the field of view framed, and on demand the class of every tile."""
    image, predictor = analysis.view.picture, analysis.predictor
    size = field_size(image)
    classified: list[MapTile] = []
    if st.session_state.get("map_requested") == _map_key(image, size, predictor):
        try:
            classified = _classified(image, size, predictor)
        except InputError as error:
            show_error(error)
    else:
        _offer_all_tiles(image, size, predictor)
    corner = None if analysis.view.whole is None else (analysis.view.x, analysis.view.y)
    figure = overview_figure(image, corner, size, current_palette(), classified, analysis.labels)
    charts.show(
        figure,
        key="overview",
        on_click=lambda: _move_to_click(image, size),
        alt=texts.overview_alt(image.width, image.height, len(classified)),
    )
    st.caption("Click in the picture to move the field of view.")


def _offer_all_tiles(image: TissueImage, size: int, predictor: Predictor) -> None:
    count = (image.width // size) * (image.height // size)
    if count > MOST_TILES:
        st.caption(f"{count:,} tiles are too many for one map (at most {MOST_TILES}); choose a larger tile.")
        return
    st.button(
        f"Classify all {count} tiles",
        icon=":material/grid_on:",
        key="classify-all",
        on_click=_remember_request,
        args=(_map_key(image, size, predictor),),
    )


def _remember_request(key: tuple[str, int, str]) -> None:
    st.session_state["map_requested"] = key


def _move_to_click(image: TissueImage, size: int) -> None:
    if (point := charts.clicked_point("overview")) is not None:
        x, y = point["customdata"][:2]
        move_to(x + size / 2, y + size / 2, size, image)


def _classified(image: TissueImage, size: int, predictor: Predictor) -> list[MapTile]:
    """The model's answer for every whole tile, made once and kept in this visitor's session."""
    key = _map_key(image, size, predictor)
    kept = st.session_state.get("tissue_map")
    if kept is None or kept[0] != key:
        bar = st.progress(0.0, text=shared.CLASSIFYING)
        kept = (key, _classify(image, size, predictor, lambda share: bar.progress(share, text=shared.CLASSIFYING)))
        bar.empty()
        st.session_state["tissue_map"] = kept
    return kept[1]


def _classify(
    image: TissueImage, size: int, predictor: Predictor, progress: Callable[[float], object]
) -> list[MapTile]:
    card = predictor.card
    corners = tile_positions(image.width, image.height, size)
    bags = []
    for number, (_, _, tile) in enumerate(tiles(image, size)):
        bags.append(bag_of(tile, card.generator, **card.generator_params))
        progress((number + 1) / len(corners))
    predictions = predictor.predict_bags(bags)
    return [
        MapTile(x, y, answer.index, answer.probability) for (x, y), answer in zip(corners, predictions, strict=True)
    ]


def _map_key(image: TissueImage, size: int, predictor: Predictor) -> tuple[str, int, str]:
    return image.sha256, size, predictor.card.fingerprint


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
