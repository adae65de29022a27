"""The Train page's one run: starting it, watching it, keeping what comes out."""

from collections.abc import Callable

import streamlit as st
from streamlit.runtime import exists, get_instance
from streamlit.runtime.scriptrunner import get_script_run_ctx

from bag_generators import InputError
from elimipl import jobs
from elimipl_app.server.visitor import visitor
from elimipl_app.shell.page import show_error
from elimipl_app.train import texts
from elimipl_app.train.live import show_end, show_run, show_start
from elimipl_app.train.plan import Plan
from elimipl_app.train.trained import count_from, keep, next_number, show_take_along
from elimipl_app.train.worker import TrainingRun

_RUN = "train_run"


def current_run(key: str = _RUN) -> TrainingRun | None:
    """The visitor's latest run, over or not; after a reload the one of the visit before."""
    if key not in st.session_state:
        run: TrainingRun | None = next(iter(jobs.SERVER.of(visitor(), key)), None)
        if run is not None and not run.is_watched():  # else another tab has it
            run.watched_by(visitor_check())
            count_from(run.number)
            st.session_state[key] = run
    return st.session_state.get(key)


def start_run(plan: Plan, key: str = _RUN) -> TrainingRun:
    """Start training; a run of this visitor that is still going on in the same place ends."""
    before = current_run(key)
    if before is not None:
        before.stop()
    run = TrainingRun(plan, next_number(), visitor_check(), visitor(), key)
    st.session_state[key] = jobs.SERVER.start(run)
    return run


def visitor_check() -> Callable[[], bool]:
    """A question that any thread may ask: is the tab this page was drawn in still connected?

    Hidden tabs stay connected, closed ones don't. A heartbeat from the page would not do: browsers let the
    timers of hidden tabs sleep.
    """
    context = get_script_run_ctx()
    if context is None or not exists():
        return lambda: True
    runtime, session = get_instance(), context.session_id
    return lambda: bool(runtime.is_active_session(session))


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
