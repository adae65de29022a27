"""How accuracy falls with the number of false positives (Figure 4): guess, then look; digits, and Birdsong."""

from typing import Any

import numpy as np
import streamlit as st

from elimipl.benchmark.cells import MIPL, VIEWS, Cell
from elimipl.benchmark.claims import phenomena
from elimipl.benchmark.records import Records
from ui.frame import moving
from ui.frame.palette import Palette, current_palette
from ui.lesson import kept, texts
from ui.lesson.answers import is_revealed
from ui.lesson.case import Case
from ui.lesson.recorded import AmbiguityRun, benchmark_records, recorded_runs

BIRDSONG, BIRDSONG_CLASSES = "birdsong", 13


def show(_case: Case) -> dict[str, Any]:
    run = recorded_runs().accuracy_by_r
    palette = current_palette()
    left, right = st.columns([1, 2.2], gap="large")
    with left:
        guess = kept.show_slider("guess", texts.GUESS_LABEL, 0, 100, 50, step=5, format="%d %%") / 100
        shown = kept.show_switch("shown", texts.SHOW_LABEL)
        if shown:
            st.markdown(texts.guess_checked(guess, run))
    with right:
        stages = run.r if shown else run.r[:1]
        slider = moving.Slider("r_digits", texts.R_LABEL, stages, stages[-1], plays=shown)
        moving.show(
            "lesson-accuracy", (slider,), (_digits(run, guess, shown, palette),), texts.accuracy_alt(run, shown)
        )
        st.caption(f"{texts.RECORDED}: {texts.seeds(run)} {run.about}")
    records = benchmark_records()
    if shown and is_revealed("ambiguity") and records is not None:
        _show_birdsong(records, palette)
    return {"shown": shown}


def _colours(palette: Palette) -> tuple[str, str, str]:
    return palette.true, palette.candidate, palette.non_candidate


def _digits(run: AmbiguityRun, guess: float, shown: bool, palette: Palette) -> moving.Lines:
    seen = len(run.r) if shown else 1
    series = [
        moving.Series(
            name,
            colour,
            [float(np.mean(seeds)) if row < seen else None for row, seeds in enumerate(values)],
            spread=[float(np.std(seeds)) for seeds in values],
            marks=True,
        )
        for (name, values), colour in zip(run.accuracy.items(), _colours(palette), strict=True)
    ]
    return moving.Lines(
        ("r_digits",), list(run.r), series, texts.R_LABEL, title=texts.DIGITS_CURVE, level=1 / run.classes,
        star=(run.r[-1], guess, texts.YOUR_GUESS), ahead=False,
    )  # fmt: skip


def _show_birdsong(records: Records, palette: Palette) -> None:
    rs = VIEWS["figure 4"].rs
    found = {method: [records.measured(Cell(BIRDSONG, r, method)) for r in rs] for method in MIPL}
    splits = {len(one.splits) for cells in found.values() for one in cells if one is not None}
    if not splits:
        return
    series = [
        moving.Series(
            method, colour, [None if one is None else one.mean for one in cells],
            spread=[0.0 if one is None else one.std for one in cells], marks=True,
        )
        for (method, cells), colour in zip(found.items(), _colours(palette), strict=True)
    ]  # fmt: skip
    slider = moving.Slider("r_birdsong", texts.R_LABEL, rs, rs[-1], plays=True)
    lines = moving.Lines(
        (slider.key,), list(rs), series, texts.R_LABEL, title=texts.birdsong_title(min(splits), max(splits)),
        level=1 / BIRDSONG_CLASSES,
    )  # fmt: skip
    moving.show("lesson-birdsong", (slider,), (lines,), texts.BIRDSONG_ALT)
    st.markdown(texts.BIRDSONG_HEADING)
    for statement, seen in phenomena(records, BIRDSONG):
        st.markdown(f"- {statement} *{seen}*")
