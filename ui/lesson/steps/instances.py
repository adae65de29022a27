"""The instance labels are hidden: multi-instance learning."""

from typing import Any

import streamlit as st

from ui.frame import charts
from ui.frame.address import Bound
from ui.frame.palette import current_palette
from ui.lesson import kept, texts
from ui.lesson.case import Case
from ui.lesson.figures.marked_instances import marked_picture

FIGURE = "lesson-instances"
_MOST_INSTANCES = 100


def show(case: Case) -> dict[str, Any]:
    left, right = st.columns([1.2, 1], gap="large")
    with right:
        st.markdown(texts.true_label(case.label, case.labels.descriptions[case.true_index]))
        hidden = kept.show_switch("hide_instances", texts.HIDE_INSTANCES_LABEL)
        marks = _marks()
        marks.set(tuple(mark for mark in marks.value() if mark < len(case.bag)))
        marked = marks.shown_by(
            st.pills, range(len(case.bag)), selection_mode="multi", wrap=True, disabled=not hidden
        )  # fmt: skip
        able = hidden and len(marked) > 0
        checked = kept.show_switch("check_marks", texts.CHECK_LABEL, disabled=not able) and able
        if checked:
            found = sum(bool(case.truth[mark]) for mark in marked)
            part = sum(bool(case.partly[mark]) for mark in marked)
            st.markdown(texts.marks_checked(found, part, len(marked) - found - part, int(case.truth.sum())))
    with left:
        known = not hidden or checked
        figure = marked_picture(
            case.image, case.bag, current_palette(), case.truth if known else None, tuple(marked) if hidden else (),
            partly=case.partly,
        )  # fmt: skip
        charts.show(figure, FIGURE, texts.bag_alt(case.label, len(case.bag), hidden), _mark if hidden else None)
    return {"hidden": hidden, "marked": len(marked), "checked": checked}


def _marks() -> Bound[tuple[int, ...]]:
    return kept.numbers("marks", texts.MARK_LABEL, _MOST_INSTANCES)


def _mark() -> None:
    if (clicked := charts.clicked_instance(FIGURE)) is not None:
        marks = _marks()
        marks.set(tuple(sorted(set(marks.value()) ^ {clicked})))
