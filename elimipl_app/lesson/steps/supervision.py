"""What is known and what is hidden: everything, the instance labels, the label among false positives, and both."""

import re
from typing import Any

import numpy as np
import streamlit as st

from elimipl.candidates.crowd import uniform_false_positives
from elimipl_app.charts.figure_one import label_matrices, label_strip
from elimipl_app.charts.tissue import is_wide
from elimipl_app.lesson import kept, texts
from elimipl_app.lesson.case import (
    NUMBERS,
    VARIANTS,
    Case,
    Section,
    candidates_of,
    choose_section,
    name_candidates,
    number_choice,
    show_origin,
)
from elimipl_app.lesson.figures import marked_picture
from elimipl_app.shell import charts
from elimipl_app.shell.address import Bound
from elimipl_app.shell.palette import current_palette

PICTURE = "lesson-picture"
_MOST_INSTANCES = 100


def show_picture(case: Case) -> dict[str, Any]:
    left, right = st.columns([1.2, 1], gap="large")
    with right:
        st.markdown(_true_label(case))
        some = f" :orange[■] {case.partly.sum()} show less than half of it," if case.partly.any() else ""
        st.markdown(
            f":red[■] {case.truth.sum()} of {len(case.truth)} instances carry the class,{some} "
            ":blue[■] the others show nothing of it."
        )
        pick = _pick_choice()
        if pick.value() >= len(case.bag):
            pick.set(-1)
        picked = pick.shown_by(
            st.selectbox, range(-1, len(case.bag)), format_func=lambda i: "none yet" if i < 0 else str(i), width=260
        )
        if picked >= 0:
            st.markdown(texts.picked(picked, bool(case.truth[picked]), float(case.shares[picked])))
            wide = is_wide(case.bag, picked)
            patch = case.bag.regions.crop(case.image, picked)
            st.image(patch, width="stretch" if wide else 140, alt=f"Patch of instance {picked}.")
    with left:
        marked = () if picked < 0 else (picked,)
        figure = marked_picture(case.image, case.bag, current_palette(), case.truth, marked, partly=case.partly)
        charts.show(figure, PICTURE, texts.picture_alt(case.label, case.truth), _pick)
    return {"picked_positive": picked >= 0 and bool(case.truth[picked])}


def _pick_choice() -> Bound[int]:
    return kept.choice("pick", "Click an instance in the picture, or choose its number", range(-1, _MOST_INSTANCES), -1)


def _pick() -> None:
    if (clicked := charts.clicked_instance(PICTURE)) is not None:
        _pick_choice().set(clicked)


def _true_label(case: Case) -> str:
    return f"True label: **{case.label}**. {case.labels.descriptions[case.true_index]}"


INSTANCES = "lesson-instances"


def show_instances(case: Case) -> dict[str, Any]:
    left, right = st.columns([1.2, 1], gap="large")
    with right:
        st.markdown(_true_label(case))
        hidden = kept.show_switch("hide_instances", "Hide the instance labels")
        marks = _marks()
        marks.set(tuple(mark for mark in marks.value() if mark < len(case.bag)))
        marked = marks.shown_by(
            st.pills, range(len(case.bag)), selection_mode="multi", wrap=True, disabled=not hidden
        )  # fmt: skip
        able = hidden and len(marked) > 0
        checked = kept.show_switch("check_marks", "Check myself", disabled=not able) and able
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
        charts.show(figure, INSTANCES, texts.bag_alt(case.label, len(case.bag), hidden), _mark if hidden else None)
    return {"hidden": hidden, "marked": len(marked), "checked": checked}


def _marks() -> Bound[tuple[int, ...]]:
    return kept.numbers(
        "marks", "Which instances carry the class? Click them, or choose their numbers", _MOST_INSTANCES
    )


def _mark() -> None:
    if (clicked := charts.clicked_instance(INSTANCES)) is not None:
        marks = _marks()
        marks.set(tuple(sorted(set(marks.value()) ^ {clicked})))


FEWEST_FALSE = 2
HIGHEST_DRAW = 999


def show_labels(case: Case) -> dict[str, Any]:
    left, right = st.columns([1, 1.5], gap="large")
    with right:
        section, r, candidates, hidden = _ask_for_labels(case, "hide_true", "Hide which candidate is true")
        if candidates.any():
            st.markdown(texts.candidate_set(candidates, case.labels.names, own=section is not None))
        st.markdown(texts.CONDITION[case.kind] if section is None else texts.UNKNOWN_TRUTH)
    with left:
        shown = section or case
        figure = marked_picture(shown.image, shown.bag, current_palette(), outlined=False).update_layout(height=300)
        charts.show(figure, "lesson-whole", "The picture as a whole: a single instance.")
    if section is not None:
        show_origin(section)
    return {"r": r, "hidden_true": hidden}


def _ask_for_labels(case: Case, switch: str, switch_label: str) -> tuple[Section | None, int, np.ndarray, bool]:
    """The section if one is looked at, r, the candidate set (k,) bool as a strip, and whether the truth is hidden."""
    section = choose_section()
    if section is None:
        r, candidates = ask_for_candidates(case)
        hidden = kept.show_switch(switch, switch_label)
    else:
        candidates, hidden = name_candidates(case.labels.names), True
        r = max(0, int(candidates.sum()) - 1)
    if candidates.any():
        charts.show(
            label_strip(case.true_index, candidates, case.labels.names, current_palette(), hidden),
            "lesson-strip",
            texts.strip_alt(candidates, case.labels.names, None if hidden else case.label),
        )
    return section, r, candidates, hidden


def ask_for_candidates(case: Case) -> tuple[int, np.ndarray]:
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
    return kept.number("draw", "Draw them again", 1, HIGHEST_DRAW, 1)


def _r(case: Case) -> Bound[int]:
    return kept.number("r", texts.R_LABEL, 0, len(case.labels) - 2, 0)


MOST_ROWS = 8
_ROW = re.compile(r"(\d{1,2})-([0-5])-(\d{1,3})")
Row = tuple[int, int, int]
"""Number of the bag, r, and which draw of the false positives."""


def show_both(case: Case) -> dict[str, Any]:
    palette = current_palette()
    rows_kept = _rows()
    left, right = st.columns([1, 2], gap="large")
    with right:
        section, r, candidates, as_machine = _ask_for_labels(case, "as_machine", "See it as a learning machine does")
        if section is not None:
            st.markdown(texts.UNKNOWN_TRUTH)
        with st.container(horizontal=True):
            st.button(
                "Keep this row and take another picture", key="add", icon=":material/add:", on_click=_add,
                args=(case.number, r), disabled=section is not None,
            )  # fmt: skip
            st.button(
                "Start over", key="clear", icon=":material/delete:", on_click=_clear,
                disabled=not rows_kept.value(),
            )  # fmt: skip
    with left:
        shown = section or case
        figure = marked_picture(shown.image, shown.bag, palette).update_layout(height=300)
        said = (
            texts.bag_alt(case.label, len(case.bag), True)
            if section is None
            else "Real colon tissue, re-stained, in instances of which nothing is known."
        )
        charts.show(figure, "lesson-bag", said)
    before = [(_true(number), _candidates(number, r, draw, len(case.labels))) for number, r, draw in rows_kept.value()]
    rows = [*before, (case.true_index, candidates)] if candidates.any() else before
    if rows:
        charts.show(
            label_matrices(
                np.array([true for true, _ in rows]),
                np.array([members for _, members in rows]),
                case.labels.names,
                [f"picture {row + 1}" for row in range(len(before))] + ["this picture"] * (len(rows) - len(before)),
                palette,
                as_machine,
            ),
            "lesson-matrices",
            f"Label matrices of {len(rows)} bags: Y = {'S + S̄' if as_machine else 'Y_F + Y_T + S̄'}.",
        )
        k = len(case.labels)
        cells = f"{len(rows)} × {k} = {len(rows) * k} cells"
        st.caption(f"{cells}. $Y_T$ fills {len(rows)} of them, one a row: {1 / k:.0%}.")
    if section is not None:
        show_origin(section)
    return {"rows": len(rows), "as_machine": as_machine}


def _true(number: int) -> int:
    return NUMBERS.index(number) // VARIANTS


def _candidates(number: int, r: int, draw: int, classes: int) -> np.ndarray:
    return uniform_false_positives([_true(number)], classes, r, draw)[0]


def _rows() -> Bound[tuple[Row, ...]]:
    return Bound("rows", "Rows kept", (), _read_rows, _write_rows)


def _write_rows(rows: tuple[Row, ...]) -> str:
    return ".".join(f"{number}-{r}-{draw}" for number, r, draw in rows)


def _read_rows(asked: list[str]) -> tuple[Row, ...]:
    found = [_ROW.fullmatch(part) for part in ".".join(asked).split(".")]
    rows = tuple((int(one[1]), int(one[2]), int(one[3])) for one in found if one is not None)
    known = all(number in NUMBERS and 1 <= draw <= HIGHEST_DRAW for number, _, draw in rows)
    if not known or not 0 < len(rows) < MOST_ROWS or [_write_rows(rows)] != asked:
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
