"""Steps 5 and 6: the scores painted on the picture, and the instances one by one."""

from dataclasses import dataclass

import numpy as np
import streamlit as st

from ui.explore import texts
from ui.explore.analysis import Analysis
from ui.explore.figures.heatmap import COLOUR_MAPS, add_heatmap
from ui.explore.instances import show_detail, show_figure_five, show_table
from ui.figures.score_scale import SCALES, coloured
from ui.figures.tissue import add_click_targets, add_outlines, picture_figure
from ui.frame import charts, choices
from ui.frame.palette import current_palette

NEARLY_EVEN = 1.2  # highest attention as a multiple of what every instance would get in an even share
SOURCES = ("attention", "leave_one_out", "integrated_gradients")


@dataclass(frozen=True)
class MapSettings:
    """What is painted, and how."""

    source: str
    class_index: int
    scale: str
    colours: str
    threshold: float
    fixed: bool
    outlined: bool
    side_by_side: bool


@st.fragment
def show_overlay(analysis: Analysis) -> None:
    """Map, controls and instances."""
    settings = _choose_settings(analysis)
    scores = analysis.scores(settings.source, settings.class_index)
    title = texts.SOURCE_TITLES[settings.source]
    if settings.source == "attention" and scores.max() * len(scores) < NEARLY_EVEN:
        st.caption(texts.nearly_even(scores))
    _show_map_and_detail(analysis, settings, scores)
    show_table(analysis, scores, title)
    with st.expander(texts.FIGURE_FIVE_HEADING, expanded=True, icon=":material/bar_chart:"):
        show_figure_five(analysis, scores, title)


@st.fragment
def _show_map_and_detail(analysis: Analysis, settings: MapSettings, scores: np.ndarray) -> None:
    """The map and the instance that was clicked: a click reruns only this, so that it answers at once."""
    if st.session_state.pop("bars_outdated", False):
        st.rerun()  # an instance was removed here; the bars live in another part of the page
    if settings.side_by_side:
        original, painted = st.columns(2)
        with original:
            _show_original(analysis)
        with painted:
            _show_map(analysis, settings, scores)
    else:
        _show_map(analysis, settings, scores)
    show_detail(analysis, scores)


def _choose_settings(analysis: Analysis) -> MapSettings:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        source = choices.one_of(
            texts.SOURCE_LABEL,
            SOURCES,
            "map",
            "attention",
            texts.SOURCE_TITLES.__getitem__,
            help=texts.SOURCE_HELP,
        )
        settings = st.popover(texts.MAP_SETTINGS, icon=":material/tune:")
    with settings:
        class_name = choices.one_of(
            texts.MAP_CLASS_LABEL,
            [texts.PREDICTED_CLASS, *analysis.labels.names],
            "map_class",
            shape="list",
            disabled=source == "attention",
            help=texts.MAP_CLASS_HELP,
        )
        scale = choices.one_of(texts.SCALE_KIND_LABEL, SCALES, "scale", SCALES[0])
        colours = choices.one_of(texts.COLOURS_LABEL, COLOUR_MAPS, "colours", shape="list")
        threshold = choices.slider(texts.THRESHOLD_LABEL, 0.0, 1.0, 0.0, "threshold", 0.05, help=texts.THRESHOLD_HELP)
        fixed = choices.switch(texts.FIXED_LABEL, "fixed", help=texts.FIXED_HELP)
        outlined = choices.switch(texts.OUTLINE_LABEL, "outlines")
        side_by_side = choices.switch(texts.SIDE_BY_SIDE_LABEL, "side_by_side")
    index = analysis.prediction.index if class_name == texts.PREDICTED_CLASS else analysis.labels.index(class_name)
    return MapSettings(source, index, scale, colours, threshold, fixed, outlined, side_by_side)


def _show_map(analysis: Analysis, settings: MapSettings, scores: np.ndarray) -> None:
    palette = current_palette()
    title = texts.SOURCE_TITLES[settings.source]
    if settings.source != "attention":
        title += f" for {analysis.labels.names[settings.class_index]}"
    figure = picture_figure(analysis.image)
    painted = coloured(scores, settings.scale, signed=settings.source != "attention", fixed=settings.fixed)
    add_heatmap(figure, analysis.bag, painted, palette, title, settings.colours, settings.threshold)
    if settings.outlined:
        add_outlines(figure, analysis.bag, palette)
    add_click_targets(figure, analysis.bag, scores, palette, title)
    charts.show(
        figure,
        key="overlay",
        on_click=_choose_clicked,
        alt=texts.map_alt(title, scores),
    )


def _show_original(analysis: Analysis) -> None:
    charts.show(
        picture_figure(analysis.image),
        key="original",
        alt="The picture without the map.",
    )


def _choose_clicked() -> None:
    if (clicked := charts.clicked_instance("overlay")) is not None:
        st.session_state["instance"] = clicked
