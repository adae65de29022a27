"""The label is hidden among false positives: partial-label learning."""

from typing import Any

import numpy as np
import streamlit as st

from ui.frame import charts
from ui.frame.address import Bound
from ui.frame.palette import current_palette
from ui.lesson import kept, sentences, texts
from ui.lesson.case import Case, candidates_of
from ui.lesson.figures.label_matrices import label_strip
from ui.lesson.figures.marked_instances import marked_picture
from ui.lesson.section import choose_section, name_candidates, show_origin

FEWEST_FALSE = 2
HIGHEST_DRAW = 999


def show(case: Case) -> dict[str, Any]:
    left, right = st.columns([1, 1.5], gap="large")
    with right:
        section = choose_section()
        if section is None:
            r, candidates = choose_candidates(case)
            hidden = kept.show_switch("hide_true", texts.HIDE_TRUE_LABEL)
        else:
            candidates, hidden = name_candidates(case.labels.names), True
            r = max(0, int(candidates.sum()) - 1)
        if candidates.any():
            charts.show(
                label_strip(case.true_index, candidates, case.labels.names, current_palette(), hidden),
                "lesson-strip",
                texts.strip_alt(candidates, case.labels.names, None if hidden else case.label),
            )
            say = texts.candidate_set if section is None else sentences.named_set
            st.markdown(say(candidates, case.labels.names))
        st.markdown(texts.CONDITION[case.kind] if section is None else texts.UNKNOWN_TRUTH)
    with left:
        shown = case if section is None else section
        figure = marked_picture(shown.image, shown.bag, current_palette(), outlined=False).update_layout(height=300)
        charts.show(figure, "lesson-whole", texts.WHOLE_ALT)
    if section is not None:
        show_origin(section)
    return {"r": r, "hidden_true": hidden}


def choose_candidates(case: Case) -> tuple[int, np.ndarray]:
    """How many false positives the crowd adds, and the candidate set (k,) bool that results."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        r = _r(case).shown_by(st.slider, 0, len(case.labels) - 2, width=260)
        draw = draw_choice().shown_by(st.number_input, 1, HIGHEST_DRAW, width=170)
    return r, candidates_of(case, r, draw)


def lesson_candidates(case: Case) -> np.ndarray:
    """The learner's own candidate set, or two false positives where they chose fewer."""
    return candidates_of(case, max(_r(case).value(), FEWEST_FALSE), draw_choice().value())


def draw_choice() -> Bound[int]:
    """Which of the random candidate sets."""
    return kept.number("draw", texts.DRAW_LABEL, 1, HIGHEST_DRAW, 1)


def _r(case: Case) -> Bound[int]:
    return kept.number("r", texts.R_LABEL, 0, len(case.labels) - 2, 0)
