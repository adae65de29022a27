"""The candidate labels: what three annotators say the picture may show, or what a person clicked on the bars."""

import numpy as np
import streamlit as st

from elimipl.data.crowd import Crowd, annotate
from elimipl.labels import LabelSpace
from ui.explore import sentences, texts
from ui.explore.analysis import Analysis
from ui.frame import charts, choices
from ui.frame.markdown import escape, option_text

BY_SAMPLE, BY_CROWD, BY_HAND = "sample", "crowd", "hand"
AS_PREDICTED = "predicted"


def choose_candidates(analysis: Analysis) -> tuple[np.ndarray, str]:
    """The candidate set, (k,) bool, never empty, and where it is from, in a sentence."""
    labels, sample, true_index = analysis.labels, analysis.sample, analysis.true_index
    choices.switch(texts.RAW_LABEL, "raw", help=texts.RAW_HELP)
    recorded = np.isin(np.array(labels.names), sample.candidates if sample else ())
    sources = [BY_SAMPLE, BY_CROWD, BY_HAND] if recorded.any() else [BY_CROWD, BY_HAND]
    source = choices.one_of(
        texts.CANDIDATES_HEADING,
        sources,
        "candidates_from",
        sources[0],
        texts.CANDIDATE_SOURCES.__getitem__,
        help=texts.CANDIDATES_HELP,
    )
    if source == BY_SAMPLE:
        return recorded, texts.recorded_candidates([labels.titles[index] for index in np.flatnonzero(recorded)])
    return _by_crowd(labels, true_index, analysis.prediction.index) if source == BY_CROWD else _by_hand(labels)


def switch_clicked(key: str, labels: LabelSpace, candidates: np.ndarray) -> None:
    """Called when a bar of the figure called `key` is clicked: its label joins the candidate set, or leaves it.

    A second click on the same bar takes the selection away instead of making one; it is about the same label.
    """
    point = charts.clicked_point(key)
    if point is not None:
        st.session_state["clicked_bar"] = int(point["customdata"])
    index = st.session_state.get("clicked_bar")
    if index is None or not 0 <= index < len(labels):
        return
    switched = candidates.copy()
    switched[index] ^= True
    st.session_state["candidates_from"] = BY_HAND
    st.session_state[_hand_key(labels)] = [labels.names[i] for i in np.flatnonzero(switched)]


def _hand_key(labels: LabelSpace) -> str:
    return f"candidates_{labels.id}"


def _by_crowd(labels: LabelSpace, true_index: int | None, predicted: int) -> tuple[np.ndarray, str]:
    looked_at = true_index
    if looked_at is None:
        name = choices.one_of(
            texts.ASSUMED_LABEL,
            [AS_PREDICTED, *labels.names],
            "assumed",
            title=lambda name: texts.ASSUMED_AS_PREDICTED if name == AS_PREDICTED else labels.title(name),
            shape="list",
            help=texts.ASSUMED_HELP,
        )
        looked_at = predicted if name == AS_PREDICTED else labels.index(name)
    seed = choices.number(texts.CROWD_SEED_LABEL, 0, 9999, 1, "crowd_seed")
    crowd = annotate(looked_at, labels, seed)
    st.caption(_what_they_said(crowd, labels))
    return crowd.candidates[0], texts.CROWD_SAID if true_index is not None else sentences.crowd_assumed(
        labels.titles[looked_at]
    )


def _by_hand(labels: LabelSpace) -> tuple[np.ndarray, str]:
    chosen = choices.some_of(
        texts.CANDIDATES_HEADING,
        labels.names,
        _hand_key(labels),
        labels.names,
        lambda name: option_text(labels.title(name)),
        label_hidden=True,
    )
    candidates = np.isin(np.array(labels.names), chosen)
    if not candidates.any():
        return ~candidates, texts.NO_CANDIDATE
    return candidates, texts.HAND_SAID


def _what_they_said(crowd: Crowd, labels: LabelSpace) -> str:
    """One line per annotator; the top label first."""
    lines = []
    for number, (votes, top) in enumerate(zip(crowd.votes[:, 0], crowd.tops[:, 0], strict=True), start=1):
        others = [labels.titles[index] for index in np.flatnonzero(votes) if index != top]
        lines.append(f"Annotator {number}: {escape(', '.join([labels.titles[top], *others]))}")
    return "  \n".join(lines)
