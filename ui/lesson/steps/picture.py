"""A bag with its true label and its true instances: everything is known."""

from typing import Any

import streamlit as st

from ui.figures.tissue import is_wide
from ui.frame import charts
from ui.frame.address import Bound
from ui.frame.palette import current_palette
from ui.lesson import kept, texts
from ui.lesson.case import Case
from ui.lesson.figures.marked_instances import marked_picture

FIGURE = "lesson-picture"
_MOST_INSTANCES = 100


def show(case: Case) -> dict[str, Any]:
    left, right = st.columns([1.2, 1], gap="large")
    with right:
        st.markdown(texts.true_label(case.label, case.labels.descriptions[case.true_index]))
        st.markdown(texts.truth_legend(int(case.truth.sum()), int(case.partly.sum()), len(case.truth)))
        pick = _pick_choice()
        if pick.value() >= len(case.bag):
            pick.set(-1)
        picked = pick.shown_by(
            st.selectbox, range(-1, len(case.bag)), format_func=lambda i: texts.NONE_YET if i < 0 else str(i), width=260
        )
        if picked >= 0:
            st.markdown(texts.picked(picked, bool(case.truth[picked]), float(case.shares[picked])))
            wide = is_wide(case.bag, picked)
            patch = case.bag.regions.crop(case.image, picked)
            st.image(patch, width="stretch" if wide else 140, alt=texts.patch_alt(picked))
    with left:
        marked = () if picked < 0 else (picked,)
        figure = marked_picture(case.image, case.bag, current_palette(), case.truth, marked, partly=case.partly)
        charts.show(figure, FIGURE, texts.picture_alt(case.label, case.truth), _pick)
    return {"picked_positive": picked >= 0 and bool(case.truth[picked])}


def _pick_choice() -> Bound[int]:
    return kept.choice("pick", texts.PICK_LABEL, range(-1, _MOST_INSTANCES), -1)


def _pick() -> None:
    if (clicked := charts.clicked_instance(FIGURE)) is not None:
        _pick_choice().set(clicked)
