"""The instances one by one: Figure 5's bars, the highest and lowest patches, and the one a person picked."""

import numpy as np
import pandas as pd
import streamlit as st

from ui.explore import texts
from ui.explore.analysis import Analysis
from ui.figures.instances import instance_bars, score_histogram
from ui.frame import charts
from ui.frame.palette import current_palette

EXTREMES = 3
MOST_FEATURES = 2
PATCH_WIDTH = 150  # screen px


def _chosen(scores: np.ndarray) -> int:
    """The instance a person picked; the highest one until they do."""
    picked = st.session_state.get("instance")
    return picked if picked is not None and picked < len(scores) else int(np.abs(scores).argmax())


def show_detail(analysis: Analysis, scores: np.ndarray) -> None:
    """The chosen instance: its patch, score, rank and what sets it apart. Few elements, so that a click is light."""
    chosen = _chosen(scores)
    rank = int((scores > scores[chosen]).sum()) + 1
    with st.container(horizontal=True):
        st.image(analysis.bag.regions.crop(analysis.image, chosen), width=PATCH_WIDTH, alt=f"Patch {chosen}.")
        st.markdown(
            f"**Instance {chosen}** · score {scores[chosen]:.4f} · rank {rank} of {len(scores)}  \n"
            f"{_in_words(analysis, chosen)}",
            width="stretch",
        )
        st.button(texts.REMOVE_LABEL, key="remove", on_click=_remove, args=(chosen,))


def _remove(instance: int) -> None:
    removed = st.session_state.get("removed") or []
    st.session_state["removed"] = sorted({*removed, instance})
    st.session_state["bars_outdated"] = True


def _in_words(analysis: Analysis, chosen: int) -> str:
    """The features in which this instance differs most from the training tiles, in standard deviations."""
    features = analysis.bag.features[chosen]
    standard = analysis.predictor.scaler.transform(features[None])[0]
    order = np.argsort(-np.abs(standard))[:MOST_FEATURES]
    lines = [f"{analysis.bag.feature_names[i]}: {features[i]:.4g} ({standard[i]:+.1f} σ)" for i in order]
    return f"{texts.FEATURES_INTRO}\n" + "\n".join(f"- {line}" for line in lines)


def show_table(analysis: Analysis, scores: np.ndarray, title: str) -> None:
    """The route for the keyboard: rows can be chosen with the arrow keys and the space bar."""
    table = pd.DataFrame({"instance": range(len(scores)), title: scores})
    table["rank"] = table[title].rank(ascending=False, method="min").astype(int)
    if analysis.truth is not None:
        table["carries the class"] = analysis.truth
    st.dataframe(
        table,
        hide_index=True,
        height=220,
        key="table",
        on_select=_choose_row,
        selection_mode="single-row",
        column_config={title: st.column_config.NumberColumn(format="%.4f")},
        alt=f"{title} and rank of each instance.",
    )


def _choose_row() -> None:
    rows = st.session_state["table"]["selection"]["rows"]
    if rows:
        st.session_state["instance"] = int(rows[0])


def _choose_bar() -> None:
    if (point := charts.clicked_point("figure-five")) is not None:
        st.session_state["instance"] = int(point["x"])


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
    ends = [("highest", order[:extremes]), ("lowest", order[::-1][:extremes])]
    for (name, members), column in zip(ends, st.columns(2), strict=True):
        with column:
            st.caption(f"{name} {title}")
            for column, index in zip(st.columns(EXTREMES), members.tolist(), strict=False):
                with column:
                    st.image(
                        analysis.bag.regions.crop(analysis.image, index),
                        caption=f"{index}: {scores[index]:.3f}",
                        width="stretch",
                        alt=f"Patch of instance {index}, one of the {name}.",
                    )
