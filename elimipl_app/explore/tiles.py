"""The tissue map of a large picture: the model's answer for every tile."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from bag_generators import InputError, TissueImage, tiles
from bag_generators.scale import field_size
from elimipl.answers.predictor import Predictor
from elimipl.candidates.labels import LabelSpace
from elimipl_app.charts.drawing import plain
from elimipl_app.charts.map_layer import class_colours, rgba
from elimipl_app.charts.tissue import picture_figure
from elimipl_app.explore.analysis import Analysis
from elimipl_app.inputs.picture import move_to
from elimipl_app.shell import charts
from elimipl_app.shell import texts as shared
from elimipl_app.shell.cached import bag_of
from elimipl_app.shell.page import show_error
from elimipl_app.shell.palette import Palette, current_palette

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
    framed = "the field of view framed" + (f", {len(classified)} tiles coloured by their class" if classified else "")
    charts.show(
        figure,
        key="overview",
        on_click=lambda: _move_to_click(image, size),
        alt=f"Overview of the picture, {image.width} by {image.height} pixels, with {framed}.",
    )
    st.caption("Click in the picture to move the field of view.")


def _offer_all_tiles(image: TissueImage, size: int, predictor: Predictor) -> None:
    count = (image.width // size) * (image.height // size)
    if count > MOST_TILES:
        st.caption(f"{count:,} tiles are too many for one map (at most {MOST_TILES}); choose a larger tile.")
        return
    request = {"map_requested": _map_key(image, size, predictor)}
    st.button(
        f"Classify all {count} tiles",
        icon=":material/grid_on:",
        key="classify-all",
        on_click=st.session_state.update,
        args=(request,),
    )


def _move_to_click(image: TissueImage, size: int) -> None:
    if (point := charts.clicked_point("overview")) is not None:
        move_to(point["x"], point["y"], size, image)


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
    count = (image.width // size) * (image.height // size)
    corners, bags = [], []
    for x, y, tile in tiles(image, size):
        corners.append((x, y))
        bags.append(bag_of(tile, card.generator, **card.generator_params))
        progress(len(bags) / count)
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
        _add_click_targets(figure, image)
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
            fillcolor=rgba(colour, 0.45),
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
            customdata=[tile.probability for tile in members],
            hovertemplate=name + " %{customdata:.0%}<extra></extra>",
            showlegend=False,
            name="tiles",
        )
    figure.update_layout(legend={"orientation": "v", "x": 1.01, "y": 1})


def _add_click_targets(figure: go.Figure, image: TissueImage) -> None:
    """Invisible points to click: each moves the field of view so that it is centred there."""
    middles = (np.arange(CLICK_TARGETS) + 0.5) / CLICK_TARGETS
    figure.add_scatter(
        x=np.tile(middles * image.width, CLICK_TARGETS),
        y=np.repeat(middles * image.height, CLICK_TARGETS),
        mode="markers",
        marker={"symbol": "square", "size": 18, "opacity": 0},
        hovertemplate="move the field of view here<extra></extra>",
        name="targets",
    )
