"""The one run a visitor has on a page: found again after a reload, started, and left alone while its tab is open."""

from collections.abc import Callable

import streamlit as st
from streamlit.runtime import exists, get_instance
from streamlit.runtime.scriptrunner import get_script_run_ctx

from elimipl import jobs
from elimipl_app.runs.plan import Plan
from elimipl_app.runs.trained import count_from, next_number
from elimipl_app.runs.worker import TrainingRun
from elimipl_app.server.visitor import visitor

POLL_SECONDS = 0.5
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
