"""Both at once: the paper's Figure 1, from the learner's own pictures and candidate sets."""

from typing import Any

import numpy as np
import streamlit as st

from ui.frame import charts, choices
from ui.frame.palette import current_palette
from ui.lesson import texts
from ui.lesson.case import Case
from ui.lesson.figures.label_matrices import label_matrices, label_strip
from ui.lesson.figures.marked_instances import marked_picture
from ui.lesson.steps.labels import choose_candidates

MOST_ROWS = 8


def show(case: Case) -> dict[str, Any]:
    palette = current_palette()
    left, right = st.columns([1, 2], gap="large")
    with right:
        _, candidates = choose_candidates(case)
        as_machine = choices.switch(texts.AS_MACHINE_LABEL, "as_machine")
        charts.show(
            label_strip(case.true_index, candidates, case.labels.names, palette, as_machine),
            "lesson-strip",
            texts.strip_alt(candidates, case.labels.names, None if as_machine else case.label),
        )
        with st.container(horizontal=True):
            st.button(texts.ADD_LABEL, key="add", icon=":material/add:", on_click=_add, args=(case, candidates))
            st.button(texts.CLEAR_LABEL, key="clear", icon=":material/delete:", on_click=_clear, disabled=not _kept())
    with left:
        figure = marked_picture(case.image, case.bag, palette).update_layout(height=300)
        charts.show(figure, "lesson-bag", texts.bag_alt(case.label, len(case.bag), True))
    rows = [*_kept(), (case.name, case.true_index, candidates)]
    charts.show(
        label_matrices(
            np.array([true for _, true, _ in rows]),
            np.array([members for _, _, members in rows]),
            case.labels.names,
            [texts.row_name(row, len(rows)) for row in range(len(rows))],
            palette,
            as_machine,
        ),
        "lesson-matrices",
        texts.matrices_alt(len(rows), as_machine),
    )
    st.caption(texts.sparse_caption(rows_count=len(rows), classes=len(case.labels)))
    return {"rows": len(rows), "as_machine": as_machine}


def _kept() -> list[tuple[str, int, np.ndarray]]:
    return st.session_state.setdefault("kept_bags", [])


def _add(case: Case, candidates: np.ndarray) -> None:
    """Keep this bag and go on to the next tissue, so that every row is another picture."""
    st.session_state["kept_bags"] = [*_kept(), (case.name, case.true_index, candidates)][-(MOST_ROWS - 1) :]
    st.session_state["tissue"] = case.labels.names[(case.true_index + 1) % len(case.labels)]
    st.session_state["draw"] = st.session_state["draw"] + 1


def _clear() -> None:
    st.session_state["kept_bags"] = []
