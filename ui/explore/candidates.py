"""The candidate labels: what simulated annotators say a sample may show, or what a person ticks; none until then."""

import numpy as np
import streamlit as st

from elimipl.data.crowd import Crowd, annotate
from elimipl.labels import LabelSpace
from ui.explore import texts
from ui.explore.analysis import BY_CROWD, BY_HAND, OF_SAMPLE, Analysis, CandidateSet, Source
from ui.frame import charts, choices
from ui.frame.markdown import escape, option_text

_FROM = "candidates_from"


def choose_candidates(analysis: Analysis) -> CandidateSet | None:
    """The candidate set; None where nobody has named a label."""
    choices.switch(texts.RAW_LABEL, "raw", help=texts.RAW_HELP)
    sources = _sources(analysis)
    source = BY_HAND
    if len(sources) > 1:
        source = choices.one_of(
            texts.CANDIDATES_HEADING,
            sources,
            _FROM,
            sources[0],
            texts.CANDIDATE_SOURCES.__getitem__,
            help=texts.CANDIDATES_HELP,
        )
    if source == OF_SAMPLE:
        return CandidateSet(_of_sample(analysis), OF_SAMPLE)
    return _by_crowd(analysis) if source == BY_CROWD else _by_hand(analysis)


def switch_clicked(key: str, analysis: Analysis) -> None:
    """Called when a bar of the figure called `key` is clicked: its label joins the candidate set, or leaves it.

    A second click on the same bar takes the selection away instead of making one; it is about the same label.
    """
    labels = analysis.labels
    point = charts.clicked_point(key)
    if point is not None:
        st.session_state["clicked_bar"] = int(point["customdata"])
    index = st.session_state.get("clicked_bar")
    if index is None or not 0 <= index < len(labels):
        return
    names = {*analysis.candidate_names} ^ {labels.names[index]}
    if len(_sources(analysis)) > 1:
        st.session_state[_FROM] = BY_HAND
    st.session_state[_hand_key(analysis)] = [name for name in labels.names if name in names]


def _sources(analysis: Analysis) -> list[Source]:
    """Who can have named candidates. Simulated annotators need a true label to be unsure about."""
    sources: list[Source] = [OF_SAMPLE] if _of_sample(analysis).any() else []
    return [*sources, *([] if analysis.true_index is None else [BY_CROWD]), BY_HAND]


def _of_sample(analysis: Analysis) -> np.ndarray:
    """The candidates that come with a drawing, (k,) bool."""
    return np.isin(np.array(analysis.labels.names), analysis.sample.candidates if analysis.sample else ())


def _hand_key(analysis: Analysis) -> str:
    """Names the ticks for one field of view: what is possible in a picture says nothing about the next."""
    return f"candidates_{analysis.labels.id}_{analysis.image.sha256[:12]}"


def _by_crowd(analysis: Analysis) -> CandidateSet:
    assert analysis.true_index is not None  # else the crowd is not offered
    seed = choices.number("Seed of the simulated annotators", 0, 9999, 1, "crowd_seed")
    crowd = annotate(analysis.true_index, analysis.labels, seed)
    st.caption(_what_they_said(crowd, analysis.labels))
    return CandidateSet(crowd.candidates[0], BY_CROWD)


def _by_hand(analysis: Analysis) -> CandidateSet | None:
    names = analysis.labels.names
    chosen = choices.some_of(
        "Tick what you find possible",
        names,
        _hand_key(analysis),
        (),
        lambda name: option_text(analysis.labels.title(name)),
    )
    return CandidateSet(np.isin(np.array(names), chosen), BY_HAND) if chosen else None


def _what_they_said(crowd: Crowd, labels: LabelSpace) -> str:
    """One line per annotator; the top label first."""
    lines = []
    for number, (votes, top) in enumerate(zip(crowd.votes[:, 0], crowd.tops[:, 0], strict=True), start=1):
        others = [labels.titles[index] for index in np.flatnonzero(votes) if index != top]
        lines.append(f"Simulated annotator {number}: {escape(', '.join([labels.titles[top], *others]))}")
    return "  \n".join(lines)
