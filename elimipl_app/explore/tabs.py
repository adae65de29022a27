"""What stands below the first screen, behind tabs: only the open one is made."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from bag_generators import Bag, InputError, TissueImage
from elimipl.answers.explain import rank_agreement
from elimipl.answers.trust import FlippingCurve, flipping_curve, smallest_flip
from elimipl.cards.wording import kept_sentence
from elimipl_app.charts.bars import MOST_BARS, instance_bars, score_histogram
from elimipl_app.charts.drawing import plain
from elimipl_app.charts.tissue import add_outlines, data_uri, patch_picture, picture_figure
from elimipl_app.explore import texts
from elimipl_app.explore.analysis import (
    PREDICTED,
    RUNNER_UP,
    Analysis,
    ViewState,
    bag_key,
    class_index,
    removed_patches,
    set_removed,
    shown_analysis,
    shown_now,
)
from elimipl_app.explore.maps import map_scores
from elimipl_app.shell import charts
from elimipl_app.shell.cached import bag_of
from elimipl_app.shell.markdown import escape
from elimipl_app.shell.page import show_error
from elimipl_app.shell.palette import Palette, current_palette


def show_below(analysis: Analysis) -> None:
    """One tab for each question a person may have next."""
    tabs: dict[str, Callable[[Analysis], None]] = {
        "Patches": show_patches,
        texts.WHAT_IF_TAB: show_what_if,
        texts.TRUST_TAB: show_flipping,
        texts.SUM_TAB: show_sums,
    }
    tabs[texts.BAG_TAB] = lambda shown: show_bag(shown.bag)
    for tab, show in zip(st.tabs(list(tabs), key="below", on_change="rerun"), tabs.values(), strict=True):
        if tab.open:
            with tab:
                show(analysis)


EXTREMES = 4
EXTREME_WIDTH = 72  # screen px


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
    if rows := st.session_state["table"]["selection"]["rows"]:
        st.session_state.update(instance=int(rows[0]), page_outdated=True)


def _choose_bar() -> None:
    point = charts.clicked_point("figure-five")
    if point is not None and point.get("customdata") is not None:
        st.session_state.update(instance=int(point["customdata"]), page_outdated=True)


def show_figure_five(analysis: Analysis, scores: np.ndarray, title: str) -> None:
    """All scores as bars and as a histogram, and the patches at both ends."""
    palette = current_palette()
    bars, histogram = st.columns([2, 1])
    with bars:
        charts.show(
            instance_bars(scores, palette, title, analysis.truth, even_share=scores is analysis.prediction.attention),
            key="figure-five",
            on_click=_choose_bar,
            alt=f"{title} of patches 0 to {len(scores) - 1}, from {scores.min():.3f} to {scores.max():.3f}.",
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
                    data_uri(patch_picture(analysis.image, analysis.bag, index)),
                    caption=f"{index}: {scores[index]:.3f}",
                    width=EXTREME_WIDTH,
                    alt=f"Patch {index}, one of the {name}.",
                )


def show_what_if(analysis: Analysis) -> None:
    """The list of removed patches, the button for the fewest, and how attention and influence agree."""
    key = bag_key(analysis)
    removed = removed_patches(analysis)
    listed = f"removed-{key}"
    st.session_state[listed] = sorted(set(analysis.blocks[list(removed)].tolist()))
    st.multiselect(
        "Removed blocks" if analysis.in_blocks else "Removed patches",
        range(int(analysis.blocks.max()) + 1),
        key=listed,
        help=f"{texts.WHAT_IF_HELP} {texts.BLOCKS_HELP}" if analysis.in_blocks else texts.WHAT_IF_HELP,
        on_change=_remove_listed,
        args=(listed, key, analysis.blocks, removed),
    )
    if st.session_state.pop("all_removed", False):
        st.caption("At least one patch has to stay, so nothing is removed.")
    st.button("Smallest set that flips the answer", key="flip", icon=":material/swap_horiz:", on_click=_flip)
    of_bag, found = st.session_state.get("flip_found", ("", None))
    if of_bag == key + analysis.predictor.card.id:
        st.caption(texts.flip_sentence(found, analysis.blocks))
    influence = analysis.scores("leave_one_out", analysis.prediction.index)
    st.caption(texts.agreement_sentence(rank_agreement(analysis.prediction.attention, influence)))
    st.caption(texts.WHAT_ATTENTION_IS)


def _remove_listed(listed: str, of_bag: str, blocks: np.ndarray, removed: tuple[int, ...]) -> None:
    """Blocks that were listed before keep what was drawn of them; new ones go as a whole."""
    before, chosen = set(blocks[list(removed)].tolist()), set(st.session_state[listed])
    gone = set(np.flatnonzero(np.isin(blocks, list(chosen - before))).tolist())
    gone |= {cell for cell in removed if blocks[cell] in chosen}
    everything = len(gone) >= len(blocks)
    st.session_state["all_removed"] = everything
    set_removed(of_bag, () if everything else gone)


def _flip() -> None:
    analysis = shown_analysis()
    found = smallest_flip(analysis.predictor, analysis.bag)
    st.session_state["flip_found"] = (bag_key(analysis) + analysis.predictor.card.id, found)
    if found is not None:
        set_removed(bag_key(analysis), found)


@st.fragment
def show_flipping(analysis: Analysis) -> None:
    """What becomes of the answer while the patches the map names first are taken away, against random orders."""
    view = shown_now(analysis)
    curve = _curve(bag_key(analysis), analysis.predictor.card.fingerprint, view.kind, view.class_index, analysis, view)
    name = analysis.labels.titles[_about(analysis, view)]
    charts.show(flipping_figure(curve, name, current_palette()), key="flipping", alt=texts.flipping_alt(curve, name))
    st.caption(texts.flipping_sentence(curve, texts.SOURCE_TITLES[view.kind], name))
    if (kept := kept_sentence(analysis.predictor.card)) is not None:
        st.caption(escape(kept))


def _about(analysis: Analysis, view: ViewState) -> int:
    """The class whose probability is followed: the map's own, or the first choice for maps about all classes."""
    return analysis.prediction.index if view.kind in ("attention", "vote") else view.class_index


@st.cache_resource(max_entries=64, show_spinner=False)
def _curve(bag: str, model: str, kind: str, class_index: int, _analysis: Analysis, _view: ViewState) -> FlippingCurve:
    scores = map_scores(_analysis, _view)
    return flipping_curve(_analysis.predictor, _analysis.bag, scores, _about(_analysis, _view))


def show_sums(analysis: Analysis) -> None:
    """Two running sums side by side; each ends at the logit of its class."""
    contributions = analysis.every_score("contribution")
    with st.container(key="panels-sums"):
        columns = st.columns(2)
    for choice, column in zip((PREDICTED, RUNNER_UP), columns, strict=True):
        index = class_index(analysis, choice)
        name, own = analysis.labels.titles[index], contributions[:, index]
        with column:
            charts.show(
                running_sum_figure(own, name, current_palette()),
                key=f"sum-{choice}",
                alt=texts.contribution_sentence(name, own),
            )
            st.caption(texts.contribution_sentence(name, own))


BAG_HEIGHT = 430  # screen px
MOST_ROWS = 512  # of the table: every row is sent to the browser


def show_bag(bag: Bag) -> None:
    """The table and its size."""
    count, dimensions = bag.features.shape
    first = f", the first {MOST_ROWS} shown" if count > MOST_ROWS else ""
    st.caption(f"The bag as a table: {count} instances × {dimensions} features{first}")
    table = pd.DataFrame(bag.features[:MOST_ROWS], columns=list(bag.feature_names)).rename_axis("instance")
    st.dataframe(table, key="bag", alt=f"Table of {count} instances with {dimensions} features each.")


def show_bag_alone(image: TissueImage, generator: str) -> None:
    """The picture with its instances outlined and their numbers, where there is no model to read them."""
    try:
        bag = bag_of(image, generator)
    except InputError as error:
        show_error(error)
        return
    figure = picture_figure(image).update_layout(height=BAG_HEIGHT)
    add_outlines(figure, bag, current_palette())
    charts.show(figure, key="bag-alone", alt=f"The picture with its {len(bag)} instances outlined.")
    show_bag(bag)


HEIGHT = 260


def flipping_figure(curve: FlippingCurve, name: str, palette: Palette) -> go.Figure:
    """The probability of a class while patches go, in the map's order and in random orders."""
    figure = go.Figure()
    for title, values, colour, dash in (
        ("highest on the map first", curve.by_score, palette.chosen, "solid"),
        ("random order", curve.by_chance, palette.muted, "dash"),
    ):
        figure.add_scatter(
            x=curve.removed,
            y=values,
            mode="lines",
            name=title,
            line={"color": colour, "dash": dash, "width": 2.5},
            hovertemplate="%{x} patches gone: %{y:.1%}<extra></extra>",
        )
    figure.update_xaxes(title="patches taken away")
    figure.update_yaxes(title=f"probability of {plain(name)}", range=[0, 1.03], tickformat=".0%")
    return figure.update_layout(height=HEIGHT, showlegend=True)


def running_sum_figure(contributions: np.ndarray, name: str, palette: Palette) -> go.Figure:
    """What the patches add (n,), the largest first, and their sum on the way to the score of the class."""
    order = np.argsort(-contributions, kind="stable")
    places = np.arange(1, len(order) + 1)
    figure = go.Figure()
    if len(order) <= MOST_BARS:
        figure.add_bar(
            x=places,
            y=contributions[order],
            marker={"color": np.where(contributions[order] >= 0, palette.positive, palette.negative).tolist()},
            customdata=order,
            name="added by the patch",
            hovertemplate="patch %{customdata}: %{y:+.3f}<extra></extra>",
        )
    shown = np.unique(np.linspace(0, len(order) - 1, min(len(order), MOST_BARS)).round().astype(int))
    figure.add_scatter(
        x=places[shown],
        y=np.cumsum(contributions[order])[shown],
        mode="lines",
        name=f"running sum, at last the score of {plain(name)}",
        line={"color": palette.text, "width": 2},
        hovertemplate="first %{x} patches: %{y:+.3f}<extra></extra>",
    )
    figure.update_xaxes(title="patches, from most for to most against the class")
    figure.update_yaxes(title="score (logit)", zeroline=True)
    return figure.update_layout(height=HEIGHT, showlegend=True, bargap=0.1)
