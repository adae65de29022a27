"""A picture with its true label and its true instances: everything is known."""

from typing import Any

import streamlit as st

from ui.figures.tissue import is_wide
from ui.frame import charts, choices
from ui.frame.palette import current_palette
from ui.lesson import texts
from ui.lesson.case import Case
from ui.lesson.figures.marked_instances import marked_picture

FIGURE = "lesson-picture"


def show(case: Case) -> dict[str, Any]:
    left, right = st.columns([1.2, 1], gap="large")
    with right:
        st.markdown(texts.true_label(case.label, case.labels.descriptions[case.true_index]))
        st.markdown(texts.truth_legend(int(case.truth.sum()), len(case.truth)))
        if (st.session_state.get("pick") or 0) >= len(case.bag):
            st.session_state["pick"] = None
        picked = choices.maybe_one_of(texts.PICK_LABEL, range(len(case.bag)), "pick")
        if picked is not None:
            st.markdown(texts.picked(picked, bool(case.truth[picked])))
            wide = is_wide(case.bag, picked)
            patch = case.bag.regions.crop(case.image, picked)
            st.image(patch, width="stretch" if wide else 140, alt=f"Patch of instance {picked}.")
    with left:
        marked = () if picked is None else (picked,)
        figure = marked_picture(case.image, case.bag, current_palette(), case.truth, marked)
        charts.show(figure, FIGURE, texts.picture_alt(case.label, case.truth), _pick)
    return {"picked_positive": picked is not None and bool(case.truth[picked])}


def _pick() -> None:
    if (clicked := charts.clicked_instance(FIGURE)) is not None:
        st.session_state["pick"] = clicked
