"""The patches one by one: Figure 5's bars, the highest and lowest, and the one a person picked."""

import numpy as np
import pandas as pd
import streamlit as st

from bag_generators import GENERATORS
from bag_generators.tissue.quality import in_tissue_words, looks_of
from ui.explore import texts
from ui.explore.analysis import Analysis
from ui.explore.maps import map_scores
from ui.explore.view_state import bag_key, removed_patches, set_removed, shown_now
from ui.figures.instances import instance_bars, score_histogram
from ui.figures.tissue import patch_picture
from ui.frame import charts
from ui.frame.markdown import escape
from ui.frame.palette import current_palette

EXTREMES = 4
EXTREME_WIDTH = 72  # screen px
PATCH_WIDTH = 96  # screen px


def _chosen(scores: np.ndarray) -> int:
    """The instance a person picked; the highest one until they do."""
    picked = st.session_state.get("instance")
    return picked if picked is not None and picked < len(scores) else int(np.abs(scores).argmax())


def show_detail(analysis: Analysis, scores: np.ndarray) -> None:
    """The chosen patch: how it looks in words, its score and rank. Few elements, so that a click is light."""
    chosen = _chosen(scores)
    rank = int((scores > scores[chosen]).sum()) + 1
    regions = analysis.bag.regions
    x0, y0, x1, y1 = regions.box(chosen)
    looks = looks_of(analysis.image.pixels[y0:y1, x0:x1][regions.mask(chosen)[y0:y1, x0:x1]])
    with st.container(horizontal=True, key="detail", vertical_alignment="center"):
        st.image(patch_picture(analysis.image, analysis.bag, chosen), width=PATCH_WIDTH, alt=f"Patch {chosen}.")
        with st.container(width="stretch", gap="xxsmall"):
            st.markdown(
                f"**Patch {chosen}** · {_score_in_words(analysis, scores, chosen)} · rank {rank} of {len(scores)}  \n"
                f"{in_tissue_words(looks)}  \n{_as_described(analysis, chosen)}"
            )
            st.button(
                texts.REMOVE_BLOCK_LABEL if analysis.in_blocks else texts.REMOVE_LABEL,
                key="remove",
                on_click=_remove,
                args=(analysis, chosen),
                icon=":material/remove:",
            )


def _score_in_words(analysis: Analysis, scores: np.ndarray, chosen: int) -> str:
    if scores is analysis.prediction.attention:
        return f"{len(scores) * scores[chosen]:.2f} times an even share"
    return f"score {scores[chosen]:.4f}"


def _remove(analysis: Analysis, patch: int) -> None:
    set_removed(bag_key(analysis), {*removed_patches(analysis), *analysis.whole_blocks([patch])})
    st.session_state["page_outdated"] = True


def _as_described(analysis: Analysis, chosen: int) -> str:
    """What the generator itself says of the patch, in small print."""
    generator = GENERATORS.get(analysis.bag.generator)
    return "" if generator is None else f":small[:gray[{escape(generator.in_words(analysis.bag, chosen))}]]"


@st.fragment
def show_patches(analysis: Analysis) -> None:
    """The table, the bars of Figure 5 and both ends, for the map that is shown."""
    if st.session_state.pop("page_outdated", False):
        st.rerun()  # a patch was chosen here; what is said of it stands beside the map
    view = shown_now(analysis)
    scores, title = map_scores(analysis, view), texts.SOURCE_TITLES[view.kind]
    with st.container(key="panels-patches"):
        table, bars = st.columns([1, 1.6], gap="medium")
    with table:
        show_table(analysis, scores, title)
    with bars:
        show_figure_five(analysis, scores, title)


def show_table(analysis: Analysis, scores: np.ndarray, title: str) -> None:
    """The route for the keyboard: rows can be chosen with the arrow keys and the space bar."""
    table = pd.DataFrame({"patch": range(len(scores)), title: scores})
    table["rank"] = table[title].rank(ascending=False, method="min").astype(int)
    if analysis.truth is not None:
        table["carries the class"] = analysis.truth
    st.dataframe(
        table,
        hide_index=True,
        height=300,
        key="table",
        on_select=_choose_row,
        selection_mode="single-row",
        column_config={title: st.column_config.NumberColumn(format="%.4f")},
        alt=f"{title} and rank of each patch.",
    )


def _choose_row() -> None:
    rows = st.session_state["table"]["selection"]["rows"]
    if rows:
        st.session_state["instance"] = int(rows[0])
        st.session_state["page_outdated"] = True


def _choose_bar() -> None:
    point = charts.clicked_point("figure-five")
    if point is not None and point.get("customdata") is not None:
        st.session_state["instance"] = int(point["customdata"])
        st.session_state["page_outdated"] = True


def show_figure_five(analysis: Analysis, scores: np.ndarray, title: str) -> None:
    """All scores as bars and as a histogram, and the patches at both ends."""
    palette = current_palette()
    bars, histogram = st.columns([2, 1])
    with bars:
        charts.show(
            instance_bars(scores, palette, title, analysis.truth, even_share=scores is analysis.prediction.attention),
            key="figure-five",
            on_click=_choose_bar,
            alt=texts.instances_alt(title, scores),
        )
    with histogram:
        charts.show(
            score_histogram(scores, palette, title),
            key="histogram",
            alt=f"Histogram of the {len(scores)} scores.",
        )
    order = np.argsort(-scores)
    extremes = min(EXTREMES, len(scores) // 2)
    for name, members in (("highest", order[:extremes]), ("lowest", order[::-1][:extremes])):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(f"{name} {title}", width=90)
            for index in members.tolist():
                st.image(
                    patch_picture(analysis.image, analysis.bag, index),
                    caption=f"{index}: {scores[index]:.3f}",
                    width=EXTREME_WIDTH,
                    alt=f"Patch {index}, one of the {name}.",
                )
