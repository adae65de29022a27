"""Why the ℓ1 sum can't make candidates sparse and what entropy does instead: both minimised side by side."""

from typing import Any

import numpy as np
import streamlit as st

from ui.frame import charts, choices
from ui.frame.palette import current_palette
from ui.lesson import texts
from ui.lesson.case import Case
from ui.lesson.collected import collected, count_collected
from ui.lesson.downhill import descend
from ui.lesson.figures.descent import descent_figure
from ui.lesson.steps.losses import lesson_candidates

STEPS = 80
INHIBITION = 1.0
CANDIDATE_MASS = 0.8
STARTS = {
    "ahead": (3.0, 2.0),
    "close": (2.2, 2.0),
    "equal": (1.0, 1.0),
}
"""Share of the first candidate and of the second, where every other candidate has 1."""


def show(case: Case) -> dict[str, Any]:
    candidates = lesson_candidates(case)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="large"):
        start = choices.one_of(
            texts.DESCENT_START_LABEL, list(STARTS), "from", "ahead", texts.DESCENT_STARTS.__getitem__
        )
        inhibited = choices.switch(texts.INHIBIT_LABEL, "inhibit")
    step = choices.slider(texts.DESCENT_LABEL, 0, STEPS, 0, "steps_down")
    if step == STEPS:
        collected("descents", start)
    first = starting_probabilities(candidates, start)
    for column, sparsity in zip(st.columns(2, gap="large"), ("l1", "entropy"), strict=True):
        path = descend(first, candidates, sparsity, INHIBITION if inhibited else 0.0, STEPS)
        with column:
            st.markdown(texts.DESCENT_TITLES[sparsity])
            charts.show(
                descent_figure(path, step, case.labels, candidates, current_palette()),
                f"lesson-descent-{sparsity}",
                texts.descent_alt(sparsity, path[step], candidates),
            )
            st.markdown(texts.descent_result(path[step], candidates))
    if step == STEPS:
        st.info(texts.DESCENT_LESSON, icon=":material/lightbulb:")
    return {"starts_finished": count_collected("descents"), "inhibited": inhibited}


def starting_probabilities(candidates: np.ndarray, start: str) -> np.ndarray:
    """(k,): 80 % on the candidates, divided as `start` says, the rest even over the others."""
    shares = np.ones(int(candidates.sum()))
    shares[:2] = STARTS[start]
    first = np.zeros(len(candidates))
    first[candidates] = CANDIDATE_MASS * shares / shares.sum()
    first[~candidates] = (1 - CANDIDATE_MASS) / int((~candidates).sum())
    return first
