"""The map on the picture: which one, how it is painted, what a click does, and what it says in a sentence."""

from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from ui.explore import sentences, texts
from ui.explore.analysis import Analysis
from ui.explore.field import move_to
from ui.explore.figures.map_figure import map_figure
from ui.explore.maps import map_scores, region_mask, vote_shares
from ui.explore.patches import show_detail
from ui.explore.region import mask_of, members_of, polygons_of, region_numbers
from ui.explore.trust import show_trust_line
from ui.explore.view_state import (
    MAPS,
    OF_A_CLASS,
    ONE,
    PREDICTED,
    RUNNER_UP,
    START_OPACITY,
    ViewState,
    bag_key,
    maps_of,
    panels_for,
    removed_patches,
    set_region,
    set_removed,
    shown_now,
)
from ui.figures.evenness import is_even
from ui.figures.map_colours import COLOUR_PAIRS
from ui.frame import charts, choices
from ui.frame.markdown import option_text
from ui.frame.palette import current_palette

LOOK, REGION, REMOVE = TOOLS = ("look", "region", "remove")
SELECTS: dict[str, tuple[Any, ...]] = {LOOK: ("points",), REGION: ("box", "lasso"), REMOVE: ("points", "box", "lasso")}
"""What each tool lets a person do in the picture, in Streamlit's words."""


@st.fragment
def show_map(analysis: Analysis) -> None:
    """Controls, map, what it says, and the patch that was clicked."""
    _show_figure(analysis, _choose_map(analysis))


@st.fragment
def _show_figure(analysis: Analysis, tool: str) -> None:
    """The map and the patch that was clicked: a click reruns only this, so that it answers at once."""
    if st.session_state.pop("page_outdated", False):
        st.rerun()  # the field of view or the bag changed here; the answer lives in another part of the page
    view = shown_now(analysis)
    scores = map_scores(analysis, view)
    figure = map_figure(analysis, view, scores, current_palette())
    figure.update_layout(dragmode="select" if tool == REGION else "pan")  # a click needs “pan”
    if tool != LOOK:  # rings would mark everything inside a box
        figure.update_traces(selected={"marker": {"opacity": 0}}, selector={"name": "instances"})
    # Streamlit keeps the callbacks of earlier figures; one that held the analysis would keep its picture for ever.
    st.session_state[_CLICKABLE] = analysis
    charts.show(
        figure,
        key="overlay",
        alt=texts.map_alt(texts.SOURCE_TITLES[view.kind], scores),
        on_click=partial(_answer_click, tool),
        selects=SELECTS[tool],
        zooms=True,
        draws=tool != LOOK,
    )
    with st.container(key="map-says", gap="xxsmall"):
        _say(analysis, view, scores)
    show_detail(analysis, scores)


_CLICKABLE = "clickable_analysis"


def _choose_map(analysis: Analysis) -> str:
    """The map, the class it is about, what the mouse does, and the settings. Returns the tool."""
    with st.container(key="map-kinds"):
        kind = choices.one_of(
            texts.SOURCE_LABEL,
            maps_of(analysis),
            "map",
            MAPS[0],
            texts.SOURCE_TITLES.__getitem__,
            label_hidden=True,
            help=texts.SOURCE_HELP,
        )
    with st.container(horizontal=True, vertical_alignment="center", key="map-tools", gap="small"):
        tool = choices.one_of(
            texts.TOOL_LABEL,
            TOOLS,
            "tool",
            LOOK,
            texts.TOOL_TITLES.__getitem__,
            label_hidden=True,
            help=texts.TOOL_HELP,
        )
        hidden = st.session_state.get("hidden", False)
        st.button(
            texts.SHOW_MAP if hidden else texts.HIDE_MAP,
            key="hide",
            icon=":material/visibility:" if hidden else ":material/visibility_off:",
            on_click=_switch_hidden,
            shortcut="h",
            help=texts.HIDE_HELP,
        )
        with st.popover(texts.MAP_SETTINGS, icon=":material/tune:"):
            _choose_settings(analysis, kind)
    return tool


def _choose_settings(analysis: Analysis, kind: str) -> None:
    choices.one_of(
        texts.MAP_CLASS_LABEL,
        [PREDICTED, RUNNER_UP, *analysis.labels.names],
        "map_class",
        title=lambda name: texts.CLASS_CHOICES.get(name, analysis.labels.title(name)),
        shape="list",
        disabled=kind not in OF_A_CLASS,
        help=texts.MAP_CLASS_HELP,
    )
    choices.one_of(texts.PANELS_LABEL, panels_for(kind), "beside", ONE, texts.PANELS_TITLES.__getitem__)
    choices.slider(texts.OPACITY_LABEL, 0.0, 1.0, START_OPACITY, "opacity", 0.05)
    choices.slider(texts.THRESHOLD_LABEL, 0.0, 1.0, 0.0, "threshold", 0.05, help=texts.THRESHOLD_HELP)
    choices.one_of(texts.COLOURS_LABEL, list(COLOUR_PAIRS), "colours", next(iter(COLOUR_PAIRS)), option_text)
    choices.switch(texts.OUTLINE_LABEL, "outlines")


def _switch_hidden() -> None:
    st.session_state["hidden"] = not st.session_state.get("hidden", False)


def _answer_click(tool: str) -> None:
    """Look at a patch, move the field of view, keep a region, or take patches out of the bag."""
    analysis: Analysis = st.session_state[_CLICKABLE]
    selection = st.session_state["overlay"]["selection"]
    if tool == REGION:
        set_region(bag_key(analysis), polygons_of(selection))
        return
    patches = {int(point["customdata"]) for point in selection["points"] if point.get("customdata") is not None}
    if tool == REMOVE:
        if (removed := _removed_by(analysis, selection, patches - {-1})) is not None:
            set_removed(bag_key(analysis), removed)
            st.session_state["page_outdated"] = True
    elif patches == {-1}:
        point = selection["points"][0]
        move_to(point["x"], point["y"], analysis.image.width, analysis.view.picture)
        st.session_state["page_outdated"] = True
    elif patches:
        st.session_state["instance"] = max(patches)


def _removed_by(analysis: Analysis, selection: dict[str, Any], patches: set[int]) -> set[int] | None:
    """What is out of the bag after a click, which takes a block out or puts it back, or a drawn shape; None: no change.

    Of cells those that lie in the shape for the most part, of other patches those it touches.
    """
    gone, drawn = set(removed_patches(analysis)), polygons_of(selection)
    if drawn:
        if analysis.in_blocks:
            shape = (analysis.image.height, analysis.image.width)
            patches = members_of(analysis.bag, mask_of(drawn, shape, analysis.view.x, analysis.view.y))
        return gone | patches if patches else None
    block = analysis.whole_blocks(patches)
    if not block:
        return None
    return gone - block if block <= gone else gone | block


def _say(analysis: Analysis, view: ViewState, scores: np.ndarray) -> None:
    """What the map means here, and how far maps like it can be trusted."""
    if view.hidden:
        st.caption(texts.MAP_HIDDEN)
    elif view.kind == "attention":
        st.caption(texts.evenness(scores, is_even(scores)))
    elif view.kind == "vote":
        shares = vote_shares(analysis.bag, analysis.every_score("single"), analysis.labels)
        st.caption(sentences.vote_sentence(analysis.labels.titles, shares))
    elif view.kind == "contribution":
        st.caption(sentences.contribution_sentence(analysis.labels.titles[view.class_index], scores))
    else:
        st.caption(sentences.map_sentence(view.kind, analysis.labels.titles[view.class_index], scores))
    if view.region:
        numbers = region_numbers(analysis.bag, analysis.prediction.attention, scores, region_mask(analysis, view))
        st.markdown(sentences.region_sentence(numbers, texts.SOURCE_TITLES[view.kind]))
    elif st.session_state.get("tool") == REGION:
        st.caption(texts.REGION_HINT)
    show_trust_line(analysis, view)
