"""The field of view of a large picture: which tile the model sees, and the tissue map of all tiles."""

from collections.abc import Callable

import streamlit as st

from bag_generators import InputError, TissueImage, tiles
from elimipl.predictor import Predictor
from ui.explore import texts
from ui.explore.analysis import View
from ui.explore.figures.tissue_map import MapTile, overview_figure, tile_positions
from ui.explore.picture import Picture
from ui.frame import charts, choices
from ui.frame import texts as shared
from ui.frame.cached import bag_of
from ui.frame.page import show_error
from ui.frame.palette import current_palette

MODEL_TILE = 224
MODEL_MICRONS = 0.5
SMALLEST_TILE = 64
OFFER_FROM = 1.5
"""A picture this many times as large as a tile is looked at tile by tile."""
MOST_TILES = 900


def choose_field(picture: Picture, predictor: Predictor) -> View:
    """The part of the picture the model sees: all of a small picture, one tile of a large one."""
    image = picture.image
    if min(image.width, image.height) < OFFER_FROM * MODEL_TILE:
        return View(image)
    with st.expander(texts.FIELD_HEADING, expanded=True, icon=":material/crop_free:"):
        controls, overview = st.columns([1, 1.4], gap="medium")
        with controls:
            whole = choices.switch(texts.WHOLE_LABEL, "whole", help=texts.WHOLE_HELP)
            size = _tile_size(image, picture.sample.microns_per_pixel if picture.sample else None)
            x, y = _position(image, size)
            _offer_all_tiles(image, size, predictor)
        with overview:
            _show_overview(image, None if whole else (x, y), size, predictor)
    return View(image) if whole else View(image.tile(x, y, size), x, y)


def _tile_size(image: TissueImage, known: float | None) -> int:
    microns = choices.number(
        texts.SCALE_LABEL, 0.1, 4.0, known or MODEL_MICRONS, "microns", 0.05, help=texts.SCALE_HELP
    )
    wanted = round(MODEL_TILE * MODEL_MICRONS / microns)
    size = max(SMALLEST_TILE, min(wanted, image.width, image.height))
    st.caption(f"{shared.EXPECTED_SCALE} Here that is a tile of {size} × {size} px.")
    return size


def _position(image: TissueImage, size: int) -> tuple[int, int]:
    corner = []
    for key, label, length in (("x", texts.LEFT_LABEL, image.width), ("y", texts.TOP_LABEL, image.height)):
        room = length - size
        if st.session_state.get(key, 0) > room:
            st.session_state[key] = room
        if room == 0:
            corner.append(0)
            continue
        corner.append(choices.slider(label, 0, room, room // 2, key))
    return corner[0], corner[1]


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


def _show_overview(image: TissueImage, corner: tuple[int, int] | None, size: int, predictor: Predictor) -> None:
    classified: list[MapTile] = []
    if st.session_state.get("map_requested") == _map_key(image, size, predictor):
        try:
            classified = _classified(image, size, predictor)
        except InputError as error:
            show_error(error)
    labels = predictor.card.label_space
    figure = overview_figure(image, corner, size, current_palette(), classified, labels)
    charts.show(
        figure,
        key="overview",
        on_click=_move_to_click,
        alt=texts.overview_alt(image.width, image.height, len(classified)),
    )
    st.caption(texts.OVERVIEW_HINT)


def _move_to_click() -> None:
    if (point := charts.clicked_point("overview")) is not None:
        st.session_state["x"], st.session_state["y"] = (int(value) for value in point["customdata"][:2])


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
    return image.sha256, size, predictor.card.sha256
