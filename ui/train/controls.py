"""The Train page's one run: starting it, watching it, keeping what comes out."""

import streamlit as st

from bag_generators import InputError
from ui.frame.page import show_error
from ui.frame.visitor import visitor
from ui.train import texts
from ui.train.live import show_end, show_run, show_start
from ui.train.plan import Plan
from ui.train.presence import visitor_check
from ui.train.returning import KeptRuns
from ui.train.trained import count_from, keep, next_number, show_take_along
from ui.train.worker import RUNNING, TrainingRun, model_id_for

_RUN = "train_run"


def current_run(key: str = _RUN) -> TrainingRun | None:
    """The visitor's latest run, over or not; after a reload the one of the visit before."""
    if key not in st.session_state and (back := _kept_runs().come_back(visitor(), key)) is not None:
        st.session_state[key], number = back
        st.session_state[key].watched_by(visitor_check())
        count_from(number)
    return st.session_state.get(key)


def start_run(plan: Plan, key: str = _RUN) -> TrainingRun:
    """Start training; a run of this visitor that is still going on in the same place ends."""
    before = current_run(key)
    if before is not None:
        before.stop()
    number = next_number()
    run = TrainingRun(plan, model_id_for(plan, number), visitor_check(), visitor())
    st.session_state[key] = run
    _kept_runs().keep(visitor(), key, run, number)
    return run


@st.cache_resource(show_spinner=False)
def _kept_runs() -> KeptRuns:
    return KeptRuns()


def show_training(plan: Plan | None) -> None:
    """The button to start, then the run; `plan` is what a start would train, None when the data can't be used."""
    run = current_run()
    running = run is not None and run.progress.state == RUNNING
    if not running and plan is not None:
        _show_start_button(plan, again=run is not None)
    if run is None:
        if plan is not None:
            show_start(plan)
        return
    progress = run.progress
    if progress.state != RUNNING:
        show_end(run)
    if progress.trained is not None:
        keep(progress.trained.predictor)
        show_take_along(progress.trained)
    show_run(run)


def _show_start_button(plan: Plan, again: bool) -> None:
    button, summary = st.columns([1, 3], vertical_alignment="center")
    label = texts.AGAIN_LABEL if again else texts.START_LABEL
    # No callback: it would start the plan of the last drawing, before a setting changed together with the click.
    if button.button(label, icon=":material/play_arrow:", type="primary", key="start", width="stretch"):
        try:
            start_run(plan)
        except InputError as error:
            show_error(error)
            return
        st.rerun()
    held_out = 0 if plan.held_out is None else len(plan.held_out)
    average = float(plan.training.candidates.sum(axis=1).mean())
    summary.markdown(texts.split_summary(len(plan.training), held_out, average))
