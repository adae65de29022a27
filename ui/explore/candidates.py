"""Step 3, the candidate labels: what the crowd says the picture may show."""

import numpy as np
import streamlit as st

from bag_generators.tissue.samples import Sample
from elimipl.data.crowd import Crowd, annotate
from elimipl.labels import LabelSpace
from ui.explore import texts
from ui.frame.page import escape, option_text

BY_SAMPLE, BY_CROWD, BY_HAND = "sample", "crowd", "hand"


def choose_candidates(labels: LabelSpace, true_index: int | None, sample: Sample | None) -> np.ndarray:
    """The candidate set, (k,) bool, never empty."""
    st.subheader(texts.CANDIDATES_HEADING, divider="gray")
    recorded = np.isin(np.array(labels.names), sample.candidates if sample else ())
    sources = [BY_SAMPLE, BY_CROWD, BY_HAND] if recorded.any() else [BY_CROWD, BY_HAND]
    source = st.segmented_control(
        texts.CANDIDATES_HEADING,
        options=sources,
        default=BY_SAMPLE if recorded.any() else BY_HAND,
        required=True,
        format_func=texts.CANDIDATE_SOURCES.__getitem__,
        key="candidates_from",
        bind="query-params",
        label_visibility="collapsed",
        help=texts.CANDIDATES_HELP,
    )
    if source == BY_SAMPLE:
        st.caption(texts.recorded_candidates([labels.names[index] for index in np.flatnonzero(recorded)]))
        return recorded
    return _by_crowd(labels, true_index) if source == BY_CROWD else _by_hand(labels)


def _by_crowd(labels: LabelSpace, true_index: int | None) -> np.ndarray:
    if true_index is None:
        name = st.selectbox(
            texts.ASSUMED_LABEL, options=labels.names, help=texts.ASSUMED_HELP, key="assumed", bind="query-params"
        )
        true_index = labels.index(name)
    seed = st.number_input(
        texts.CROWD_SEED_LABEL, min_value=0, max_value=9999, value=1, key="crowd_seed", bind="query-params"
    )
    crowd = annotate(true_index, labels, int(seed))
    st.caption(_what_they_said(crowd, labels))
    return crowd.candidates[0]


def _by_hand(labels: LabelSpace) -> np.ndarray:
    chosen = st.pills(
        texts.CANDIDATES_HEADING,
        options=labels.names,
        selection_mode="multi",
        default=labels.names,
        format_func=option_text,
        key=f"candidates_{labels.id}",
        bind="query-params",
        label_visibility="collapsed",
    )
    candidates = np.isin(np.array(labels.names), chosen)
    if not candidates.any():
        st.caption(texts.NO_CANDIDATE)
        return ~candidates
    return candidates


def _what_they_said(crowd: Crowd, labels: LabelSpace) -> str:
    """One line per annotator; the top label first."""
    lines = []
    for number, (votes, top) in enumerate(zip(crowd.votes[:, 0], crowd.tops[:, 0], strict=True), start=1):
        others = [labels.names[index] for index in np.flatnonzero(votes) if index != top]
        lines.append(f"Annotator {number}: {escape(', '.join([labels.names[top], *others]))}")
    return "  \n".join(lines)
