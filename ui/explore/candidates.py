"""Step 3, the candidate labels: what the crowd says the picture may show."""

import numpy as np
import streamlit as st

from bag_generators.tissue.samples import Sample
from elimipl.data.crowd import Crowd, annotate
from elimipl.labels import LabelSpace
from ui.explore import texts
from ui.frame import choices
from ui.frame.markdown import escape, option_text

BY_SAMPLE, BY_CROWD, BY_HAND = "sample", "crowd", "hand"


def choose_candidates(labels: LabelSpace, true_index: int | None, sample: Sample | None) -> np.ndarray:
    """The candidate set, (k,) bool, never empty."""
    st.subheader(texts.CANDIDATES_HEADING, divider="gray")
    recorded = np.isin(np.array(labels.names), sample.candidates if sample else ())
    sources = [BY_SAMPLE, BY_CROWD, BY_HAND] if recorded.any() else [BY_CROWD, BY_HAND]
    source = choices.one_of(
        texts.CANDIDATES_HEADING,
        sources,
        "candidates_from",
        BY_SAMPLE if recorded.any() else BY_HAND,
        texts.CANDIDATE_SOURCES.__getitem__,
        label_hidden=True,
        help=texts.CANDIDATES_HELP,
    )
    if source == BY_SAMPLE:
        st.caption(texts.recorded_candidates([labels.names[index] for index in np.flatnonzero(recorded)]))
        return recorded
    return _by_crowd(labels, true_index) if source == BY_CROWD else _by_hand(labels)


def _by_crowd(labels: LabelSpace, true_index: int | None) -> np.ndarray:
    if true_index is None:
        name = choices.one_of(texts.ASSUMED_LABEL, labels.names, "assumed", shape="list", help=texts.ASSUMED_HELP)
        true_index = labels.index(name)
    seed = choices.number(texts.CROWD_SEED_LABEL, 0, 9999, 1, "crowd_seed")
    crowd = annotate(true_index, labels, seed)
    st.caption(_what_they_said(crowd, labels))
    return crowd.candidates[0]


def _by_hand(labels: LabelSpace) -> np.ndarray:
    chosen = choices.some_of(
        texts.CANDIDATES_HEADING, labels.names, f"candidates_{labels.id}", labels.names, option_text, label_hidden=True
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
