"""The label is hidden among false positives: partial-label learning."""

from typing import Any

import numpy as np
import streamlit as st

from ui.frame import charts, choices
from ui.frame.palette import current_palette
from ui.lesson import texts
from ui.lesson.case import Case, candidates_of
from ui.lesson.figures.label_matrices import label_strip
from ui.lesson.figures.marked_instances import marked_picture


def show(case: Case) -> dict[str, Any]:
    left, right = st.columns([1, 1.5], gap="large")
    with right:
        r, candidates = choose_candidates(case)
        hidden = choices.switch(texts.HIDE_TRUE_LABEL, "hide_true")
        charts.show(
            label_strip(case.true_index, candidates, case.labels.names, current_palette(), hidden),
            "lesson-strip",
            texts.strip_alt(candidates, case.labels.names, None if hidden else case.label),
        )
        st.markdown(texts.candidate_set(candidates, case.labels.names))
    with left:
        figure = marked_picture(case.image, case.bag, current_palette(), outlined=False).update_layout(height=300)
        charts.show(figure, "lesson-whole", texts.WHOLE_ALT)
    return {"r": r, "hidden_true": hidden}


def choose_candidates(case: Case) -> tuple[int, np.ndarray]:
    """How many false positives the crowd adds, and the candidate set (k,) bool that results."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        r = choices.slider(texts.R_LABEL, 0, len(case.labels) - 2, 0, "r", width=260)
        draw = choices.number(texts.DRAW_LABEL, 1, 999, 1, "draw", width=170)
    st.session_state["crowd"] = (r, draw)  # widgets of other steps are forgotten; this is not
    return r, candidates_of(case, r, draw)
