"""Both at once: the paper's Figure 1, from the learner's own pictures and candidate sets."""

import re
from typing import Any

import numpy as np
import streamlit as st

from elimipl.data.crowd import uniform_false_positives
from ui.frame import charts
from ui.frame.address import Bound
from ui.frame.palette import current_palette
from ui.lesson import kept, texts
from ui.lesson.case import NUMBERS, VARIANTS, Case, number_choice
from ui.lesson.figures.label_matrices import label_matrices, label_strip
from ui.lesson.figures.marked_instances import marked_picture
from ui.lesson.section import choose_section, name_candidates, show_origin
from ui.lesson.steps.labels import HIGHEST_DRAW, choose_candidates, draw_choice

MOST_ROWS = 8
_ROW = re.compile(r"(\d{1,2})-([0-5])-(\d{1,3})")
Row = tuple[int, int, int]
"""Number of the bag, r, and which draw of the false positives."""


def show(case: Case) -> dict[str, Any]:
    palette = current_palette()
    rows_kept = _rows()
    left, right = st.columns([1, 2], gap="large")
    with right:
        section = choose_section()
        if section is None:
            r, candidates = choose_candidates(case)
            as_machine = kept.show_switch("as_machine", texts.AS_MACHINE_LABEL)
        else:
            r, candidates, as_machine = 0, name_candidates(case.labels.names), True
            st.markdown(texts.UNKNOWN_TRUTH)
        if candidates.any():
            charts.show(
                label_strip(case.true_index, candidates, case.labels.names, palette, as_machine),
                "lesson-strip",
                texts.strip_alt(candidates, case.labels.names, None if as_machine else case.label),
            )
        with st.container(horizontal=True):
            st.button(
                texts.ADD_LABEL, key="add", icon=":material/add:", on_click=_add, args=(case.number, r),
                disabled=section is not None,
            )  # fmt: skip
            st.button(
                texts.CLEAR_LABEL, key="clear", icon=":material/delete:", on_click=_clear,
                disabled=not rows_kept.value(),
            )  # fmt: skip
    with left:
        shown = case if section is None else section
        figure = marked_picture(shown.image, shown.bag, palette).update_layout(height=300)
        said = texts.bag_alt(case.label, len(case.bag), True) if section is None else texts.SECTION_ALT
        charts.show(figure, "lesson-bag", said)
    before = [(_true(number), _candidates(number, r, draw, len(case.labels))) for number, r, draw in rows_kept.value()]
    rows = [*before, (case.true_index, candidates)] if candidates.any() else before
    if rows:
        charts.show(
            label_matrices(
                np.array([true for true, _ in rows]),
                np.array([members for _, members in rows]),
                case.labels.names,
                [texts.row_name(row, len(before) + 1) for row in range(len(rows))],
                palette,
                as_machine,
            ),
            "lesson-matrices",
            texts.matrices_alt(len(rows), as_machine),
        )
        st.caption(texts.sparse_caption(rows_count=len(rows), classes=len(case.labels)))
    if section is not None:
        show_origin(section)
    return {"rows": len(rows), "as_machine": as_machine}


def _true(number: int) -> int:
    return NUMBERS.index(number) // VARIANTS


def _candidates(number: int, r: int, draw: int, classes: int) -> np.ndarray:
    return uniform_false_positives([_true(number)], classes, r, draw)[0]


def _rows() -> Bound[tuple[Row, ...]]:
    return Bound("rows", texts.ROWS_LABEL, (), _read_rows, write_rows)


def read_rows(text: str) -> tuple[Row, ...]:
    """Rows as they stand in the address."""
    found = [_ROW.fullmatch(part) for part in text.split(".")]
    return tuple((int(one[1]), int(one[2]), int(one[3])) for one in found if one is not None)


def write_rows(rows: tuple[Row, ...]) -> str:
    """The inverse of `read_rows`."""
    return ".".join(f"{number}-{r}-{draw}" for number, r, draw in rows)


def _read_rows(asked: list[str]) -> tuple[Row, ...]:
    rows = read_rows(".".join(asked))
    known = all(number in NUMBERS and 1 <= draw <= HIGHEST_DRAW for number, _, draw in rows)
    if not known or not 0 < len(rows) < MOST_ROWS or [write_rows(rows)] != asked:
        raise ValueError
    return rows


def _add(number: int, r: int) -> None:
    """Keep this bag and go on to the next tissue, so that every row is another picture."""
    rows, draw = _rows(), draw_choice()
    rows.set((*rows.value(), (number, r, draw.value()))[-(MOST_ROWS - 1) :])
    number_choice().set(NUMBERS[(NUMBERS.index(number) + VARIANTS) % len(NUMBERS)])
    draw.set(min(draw.value() + 1, HIGHEST_DRAW))


def _clear() -> None:
    _rows().set(())
