"""The Train page's one run: starting it, watching it, keeping what comes out."""

import streamlit as st

from bag_generators import InputError
from elimipl_app.runs.current import current_run, start_run
from elimipl_app.runs.plan import Plan
from elimipl_app.runs.trained import keep, show_take_along
from elimipl_app.shell.page import show_error
from elimipl_app.train import texts
from elimipl_app.train.live import show_end, show_run, show_start


def show_training(plan: Plan | None) -> None:
    """The button to start, then the run; `plan` is what a start would train, None when the data can't be used."""
    run = current_run()
    running = run is not None and not run.progress.is_over
    if not running and plan is not None:
        _show_start_button(plan, again=run is not None)
    if run is None:
        if plan is not None:
            show_start(plan)
        return
    progress = run.progress
    if progress.is_over:
        show_end(run)
    if progress.result is not None:
        keep(progress.result.predictor)
        show_take_along(progress.result)
    show_run(run)


def _show_start_button(plan: Plan, again: bool) -> None:
    button, summary = st.columns([1, 3], vertical_alignment="center")
    label = "Train again" if again else "Start training"
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
