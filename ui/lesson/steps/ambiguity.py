"""How accuracy falls with the number of false positives: guess, then look."""

from typing import Any

import streamlit as st

from ui.frame import charts, choices
from ui.frame.palette import current_palette
from ui.lesson import texts
from ui.lesson.case import Case
from ui.lesson.figures.beliefs import accuracy_by_ambiguity
from ui.lesson.recorded import recorded_runs


def show(_case: Case) -> dict[str, Any]:
    run = recorded_runs().accuracy_by_r
    left, right = st.columns([1, 2], gap="large")
    with left:
        guess = choices.slider(texts.GUESS_LABEL, 0, 100, 50, "guess", 5, format="%d %%") / 100
        shown = choices.switch(texts.SHOW_LABEL, "shown")
        if shown:
            st.markdown(texts.guess_checked(guess, run))
    with right:
        figure = accuracy_by_ambiguity(run.r, run.accuracy, 1 / run.classes, current_palette(), guess, shown)
        charts.show(figure, "lesson-accuracy", texts.accuracy_alt(run, shown))
    st.caption(f"{texts.RECORDED}: {run.about}")
    return {"shown": shown}
