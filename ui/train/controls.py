"""The Train page's one run: starting it, watching it, keeping what comes out."""

import streamlit as st

from ui.train import texts
from ui.train.live import show_end, show_run, show_start
from ui.train.plan import Plan
from ui.train.presence import visitor_check
from ui.train.trained import keep, next_number, show_take_along
from ui.train.worker import RUNNING, TrainingRun, model_id_for

_RUN = "train_run"


def current_run() -> TrainingRun | None:
    """The visitor's latest run, over or not."""
    return st.session_state.get(_RUN)


def start_run(plan: Plan, key: str = _RUN) -> TrainingRun:
    """Start training; a run of this visitor that is still going on in the same place ends."""
    before = st.session_state.get(key)
    if before is not None:
        before.stop()
    run = TrainingRun(plan, model_id_for(plan, next_number()), visitor_check())
    st.session_state[key] = run
    return run


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
        show_end(progress)
    if progress.trained is not None:
        keep(progress.trained.predictor)
        show_take_along(progress.trained)
    show_run(run)


def _show_start_button(plan: Plan, again: bool) -> None:
    button, summary = st.columns([1, 3], vertical_alignment="center")
    label = texts.AGAIN_LABEL if again else texts.START_LABEL
    # No callback: it would start the plan of the last drawing, before a setting changed together with the click.
    if button.button(label, icon=":material/play_arrow:", type="primary", key="start", width="stretch"):
        start_run(plan)
        st.rerun()
    held_out = 0 if plan.held_out is None else len(plan.held_out)
    average = float(plan.training.candidates.sum(axis=1).mean())
    summary.markdown(texts.split_summary(len(plan.training), held_out, average))
