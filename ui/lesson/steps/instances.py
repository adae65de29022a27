"""The instance labels are hidden: multi-instance learning."""

from typing import Any

import streamlit as st

from ui.frame import charts, choices
from ui.frame.palette import current_palette
from ui.lesson import texts
from ui.lesson.case import Case
from ui.lesson.figures.marked_instances import marked_picture

FIGURE = "lesson-instances"


def show(case: Case) -> dict[str, Any]:
    left, right = st.columns([1.2, 1], gap="large")
    with right:
        st.markdown(texts.true_label(case.label, case.labels.descriptions[case.true_index]))
        hidden = choices.switch(texts.HIDE_INSTANCES_LABEL, "hide_instances")
        st.session_state["marks"] = [mark for mark in st.session_state.get("marks", []) if mark < len(case.bag)]
        marked = st.pills(
            texts.MARK_LABEL,
            range(len(case.bag)),
            selection_mode="multi",
            wrap=True,
            key="marks",
            disabled=not hidden,
            persist_state="page",
        )
        checked = st.toggle(texts.CHECK_LABEL, key="check_marks", disabled=not (hidden and marked))
        if hidden and checked and marked:
            found = sum(bool(case.truth[mark]) for mark in marked)
            st.markdown(texts.marks_checked(found, len(marked) - found, int(case.truth.sum())))
    with left:
        truth = None if hidden and not (checked and marked) else case.truth
        figure = marked_picture(case.image, case.bag, current_palette(), truth, tuple(marked) if hidden else ())
        charts.show(figure, FIGURE, texts.bag_alt(case.label, len(case.bag), hidden), _mark if hidden else None)
    return {"hidden": hidden, "marked": len(marked), "checked": bool(checked and hidden)}


def _mark() -> None:
    if (clicked := charts.clicked_instance(FIGURE)) is not None:
        marks = set(st.session_state.get("marks", []))
        st.session_state["marks"] = sorted(marks ^ {clicked})
