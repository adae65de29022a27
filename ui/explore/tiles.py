"""The tissue map of a large picture: the model's answer for every tile."""

from collections.abc import Callable

import streamlit as st

from bag_generators import InputError, TissueImage, tiles
from bag_generators.field import field_size
from elimipl.predictor import Predictor
from ui.explore import texts
from ui.explore.analysis import Analysis
from ui.explore.field import move_to
from ui.explore.figures.tissue_map import MapTile, overview_figure, tile_positions
from ui.frame import charts
from ui.frame import texts as shared
from ui.frame.cached import bag_of
from ui.frame.page import show_error
from ui.frame.palette import current_palette

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
    st.caption(texts.OVERVIEW_HINT)


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
