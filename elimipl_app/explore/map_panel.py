"""The map on the picture: which one, how it is painted, what a click does, and what it says in a sentence."""

from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from bag_generators import GENERATORS
from bag_generators.tissue.quality import has_detail, in_tissue_words, looks_of
from elimipl.answers.explain import KeptAlone, kept_alone
from elimipl_app.charts.map_layer import COLOUR_PAIRS, is_even
from elimipl_app.charts.tissue import data_uri, patch_picture
from elimipl_app.explore import texts
from elimipl_app.explore.analysis import (
    CONTOURS,
    OF_A_CLASS,
    ONE,
    PREDICTED,
    RUNNER_UP,
    START_OPACITY,
    WAYS_TO_PAINT,
    Analysis,
    ViewState,
    bag_key,
    first_map_of,
    maps_of,
    panels_for,
    removed_patches,
    set_region,
    set_removed,
    shown_analysis,
    shown_now,
)
from elimipl_app.explore.links import hold_lens
from elimipl_app.explore.map_figure import map_figure, movable
from elimipl_app.explore.maps import (
    drawn_contours,
    drawn_numbers,
    map_scores,
    mask_of,
    members_of,
    panels_of,
    polygons_of,
    region_mask,
    vote_shares,
)
from elimipl_app.explore.own_truth import load_region
from elimipl_app.inputs.picture import move_to
from elimipl_app.shell import charts, choices
from elimipl_app.shell.markdown import escape, option_text
from elimipl_app.shell.palette import current_palette

LOOK, REGION, REMOVE = TOOLS = ("look", "region", "remove")
SELECTS: dict[str, tuple[Any, ...]] = {LOOK: ("points",), REGION: ("box", "lasso"), REMOVE: ("points", "box", "lasso")}
"""What each tool lets a person do in the picture, in Streamlit's words."""
PATCH_WIDTH = 96  # screen px
AROUND = 7  # px of its surroundings that tell whether a patch is in focus


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
    figure, title = map_figure(analysis, view, scores, current_palette()), texts.SOURCE_TITLES[view.kind]
    figure.update_layout(dragmode="select" if tool == REGION else "pan")  # a click needs “pan”
    if tool == REGION:
        figure.update_layout(selections=[movable(polygon) for polygon in view.region])
    if tool != LOOK:  # rings would mark everything inside a box
        figure.update_traces(selected={"marker": {"opacity": 0}}, selector={"name": "instances"})
    charts.show(
        figure,
        key="overlay",
        alt=f"{title} painted on the picture; highest at patch {int(scores.argmax())} with {scores.max():.3f}.",
        on_click=partial(_answer_click, tool),
        selects=SELECTS[tool],
        zooms=True,
        draws=tool != LOOK,
    )
    with st.container(key="map-says", gap="xxsmall"):
        _say(analysis, view, scores)
        if tool == REGION:
            load_region(analysis)
            hold_lens(analysis)
    _show_detail(analysis, scores)


def _choose_map(analysis: Analysis) -> str:
    """The map, the class it is about, what the mouse does, and the settings. Returns the tool."""
    with st.container(key="map-kinds"):
        kind = choices.one_of(
            "Painted on the picture",
            maps_of(analysis),
            "map",
            _first_map(analysis),
            texts.SOURCE_TITLES.__getitem__,
            label_hidden=True,
            help=texts.SOURCE_HELP,
        )
    with st.container(horizontal=True, vertical_alignment="center", key="map-tools", gap="small"):
        tool = choices.one_of(
            "What the mouse does",
            TOOLS,
            "tool",
            LOOK,
            texts.TOOL_TITLES.__getitem__,
            label_hidden=True,
            help=texts.TOOL_HELP,
        )
        hidden = st.session_state.get("hidden", False)
        st.button(
            "Show" if hidden else "Hide",
            key="hide",
            icon=":material/visibility:" if hidden else ":material/visibility_off:",
            on_click=_switch_hidden,
            shortcut="h",
            help="Hides the map, or shows it again. The key H does the same.",
        )
        with st.popover("Settings", icon=":material/tune:"):
            _choose_settings(analysis, kind)
    return tool


def _first_map(analysis: Analysis) -> str:
    """The map to open with; a visitor who never chose one gets that of the next model, too."""
    state, first = st.session_state, first_map_of(analysis.predictor.card)
    before = state.get("first_map", first)
    if before != first and state.get("map") == before:
        state["map"] = first
    state["first_map"] = first
    return first


def _choose_settings(analysis: Analysis, kind: str) -> None:
    labels = analysis.labels
    choices.one_of(
        "For which class",
        [PREDICTED, RUNNER_UP, *labels.names],
        "map_class",
        title=lambda name: texts.CLASS_CHOICES.get(name, labels.title(name)),
        shape="list",
        disabled=kind not in OF_A_CLASS,
        help="Attention is the same for all classes; the other maps are about one.",
    )
    choices.one_of(
        "Painted as",
        WAYS_TO_PAINT,
        "painted",
        CONTOURS,
        texts.PAINTED_TITLES.__getitem__,
        disabled=kind == "vote",
        help=texts.PAINTED_HELP,
    )
    choices.one_of("Panels", panels_for(kind), "beside", ONE, texts.PANELS_TITLES.__getitem__)
    choices.slider("Opacity", 0.0, 1.0, START_OPACITY, "opacity", 0.05)
    choices.slider(
        "Hide below", 0.0, 1.0, 0.0, "threshold", 0.05, help="As a share of the colour scale from its middle."
    )
    choices.one_of("Colours", list(COLOUR_PAIRS), "colours", next(iter(COLOUR_PAIRS)), option_text)
    choices.switch("Outline the instances", "outlines")


def _switch_hidden() -> None:
    st.session_state["hidden"] = not st.session_state.get("hidden", False)


def _answer_click(tool: str) -> None:
    """Look at a patch, move the field of view, keep a region, or take patches out of the bag."""
    analysis = shown_analysis()
    selection = st.session_state["overlay"]["selection"]
    if tool == REGION:
        set_region(bag_key(analysis), polygons_of(selection))
        hold_lens(analysis)
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
        st.caption("The map is hidden; H shows it again.")
    elif view.kind == "attention":
        st.caption(texts.evenness(scores, is_even(scores)))
    elif view.kind == "vote":
        st.caption(texts.vote_sentence(analysis.labels.titles, vote_shares(analysis.votes, analysis.labels)))
    elif view.kind == "contribution":
        st.caption(texts.contribution_sentence(analysis.labels.titles[view.class_index], scores))
    else:
        st.caption(texts.map_sentence(view.kind, analysis.labels.titles[view.class_index], scores))
    in_lines = view.painted == CONTOURS and view.kind != "vote" and not view.hidden
    if in_lines and not drawn_contours(panels_of(analysis, view)):
        st.caption(texts.NO_CONTOURS)
    if view.region:
        _say_what_the_lens_holds(analysis, view)
    elif st.session_state.get("tool") == REGION:
        st.caption(texts.REGION_HINT)
    _say_whether_it_holds(analysis, view, scores)


def _say_what_the_lens_holds(analysis: Analysis, view: ViewState) -> None:
    """The answers of the lens and of the picture, from one reading of all cells; and whether the map finds it."""
    numbers = drawn_numbers(analysis, view)
    inside = members_of(analysis.bag, region_mask(analysis, view)) - set(view.removed)
    if inside:
        here, whole = analysis.answer_within(inside), analysis.answer_without(view.removed)[1]
        brief = texts.answer_in_brief
        st.markdown(texts.lens_sentence(escape(brief(here)), escape(brief(whole)), len(inside)))
    else:
        st.caption(texts.EMPTY_LENS)
    st.caption(texts.region_sentence(numbers, texts.SOURCE_TITLES[view.kind]))


def _say_whether_it_holds(analysis: Analysis, view: ViewState, scores: np.ndarray) -> None:
    """The map's own test on this picture: keep the quarter it points at, and the one it points away from."""
    if view.hidden or view.kind == "vote":
        return
    if view.kind != "attention" and view.class_index != analysis.prediction.index:
        st.caption(escape(texts.OF_ANOTHER_CLASS.format(texts.class_in_words(analysis.labels, view.class_index))))
        return
    kept = _kept(bag_key(analysis), analysis.predictor.card.fingerprint, view.kind, view.class_index, analysis, scores)
    st.caption(texts.kept_sentence(kept, analysis.predictor.card, view.kind))


@st.cache_resource(max_entries=256, show_spinner=False)
def _kept(bag: str, model: str, kind: str, class_index: int, _analysis: Analysis, _scores: np.ndarray) -> KeptAlone:
    return kept_alone(_analysis.predictor, _analysis.bag, _scores, prediction=_analysis.prediction)


def _show_detail(analysis: Analysis, scores: np.ndarray) -> None:
    """The chosen patch: how it looks in words, its score and rank. Few elements, so that a click is light."""
    picked = st.session_state.get("instance")
    chosen = picked if picked is not None and picked < len(scores) else int(np.abs(scores).argmax())
    rank, score = int((scores > scores[chosen]).sum()) + 1, f"score {scores[chosen]:.4f}"
    if scores is analysis.prediction.attention:
        score = f"{len(scores) * scores[chosen]:.2f} times an even share"
    bag, regions, generator = analysis.bag, analysis.bag.regions, GENERATORS.get(analysis.bag.generator)
    x0, y0, x1, y1 = regions.box(chosen)
    words, pixels = texts.NO_DETAIL, analysis.image.pixels
    if has_detail(pixels[max(0, y0 - AROUND) : y1 + AROUND, max(0, x0 - AROUND) : x1 + AROUND]):
        words = in_tissue_words(looks_of(pixels[y0:y1, x0:x1][regions.mask(chosen)[y0:y1, x0:x1]]))
    described = "" if generator is None else f":small[:gray[{escape(generator.in_words(bag, chosen))}]]"
    with st.container(horizontal=True, key="detail", vertical_alignment="center"):
        st.image(data_uri(patch_picture(analysis.image, bag, chosen)), width=PATCH_WIDTH, alt=f"Patch {chosen}.")
        with st.container(width="stretch", gap="xxsmall"):
            st.markdown(f"**Patch {chosen}** · {score} · rank {rank} of {len(scores)}  \n{words}  \n{described}")
            st.button(
                "Remove its block" if analysis.in_blocks else "Remove",
                key="remove",
                on_click=_remove,
                args=(chosen,),
                icon=":material/remove:",
            )


def _remove(patch: int) -> None:
    analysis = shown_analysis()
    set_removed(bag_key(analysis), {*removed_patches(analysis), *analysis.whole_blocks([patch])})
    st.session_state["page_outdated"] = True
