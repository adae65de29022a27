"""One method of the comparison trained here and now, on the bags of the recording."""

import streamlit as st

from elimipl.config import Config
from elimipl.data.crowd import Candidates
from elimipl.training.figure_two import four_probabilities
from ui.compare import texts
from ui.compare.figures import four_curves
from ui.compare.page import Comparison
from ui.figures.curves import accuracy_curves
from ui.frame import charts
from ui.frame.page import show_error
from ui.frame.palette import current_palette
from ui.frame.texts import in_line
from ui.train.controls import current_run, start_run
from ui.train.data import named_bags
from ui.train.live import POLL_SECONDS
from ui.train.plan import Plan, make_plan
from ui.train.settings import WATCHABLE_PACE
from ui.train.worker import TrainingRun

_RUN = "compare_run"


def show_live(comparison: Comparison) -> None:
    """Choose a method and a seed, start, watch the bag that is compared above."""
    st.subheader("Train it here", divider="gray", anchor=False)
    st.caption(texts.LIVE_ABOUT)
    methods = comparison.recorded.about.methods
    with st.container(horizontal=True, vertical_alignment="bottom"):
        method = st.selectbox("Method", methods, index=methods.index(comparison.right), key="live_method", width=180)
        seed = st.number_input("Seed", 0, 9999, 1, key="live_seed", width=140)
        if st.button("Train it here", icon=":material/play_arrow:", type="primary", key="live_start"):
            start_run(plan_for(comparison, method, int(seed)), _RUN)
    run = current_run(_RUN)
    if run is None or run.plan.title != _title(comparison, run.plan.title.partition(" on ")[0]):
        return
    running = not run.progress.is_over
    st.fragment(_show_run, run_every=POLL_SECONDS if running else None)(comparison, run, running)


def plan_for(comparison: Comparison, method: str, seed: int) -> Plan:
    """The recorded training of a method with another seed, slow enough to be watched."""
    about = comparison.recorded.about
    config = Config.from_dict(about.configs[method]).replace(seed=seed)
    candidates = Candidates(about.candidates, about.r, about.candidate_seed)
    bags, watch = named_bags(about.bags), len(about.bag_names)
    return make_plan(_title(comparison, method), bags, candidates, config, pace=WATCHABLE_PACE, watch=watch)


def _title(comparison: Comparison, method: str) -> str:
    return f"{method} on {comparison.recorded.about.title}"


def _show_run(comparison: Comparison, run: TrainingRun, was_running: bool) -> None:
    progress, epochs = run.progress, run.plan.config.epochs
    if was_running and progress.is_over:
        st.rerun()
    if progress.error is not None:
        show_error(progress.error)
        return
    state_in_words = texts.live_state(progress.state, run.plan.title, progress.done, epochs)
    bar, stop = st.columns([4, 1.3], vertical_alignment="center")
    bar.progress(progress.done / epochs, " · ".join(filter(None, (state_in_words, in_line(*run.place)))))
    if not progress.is_over:
        stop.button("Stop training", icon=":material/stop:", on_click=run.stop, key="live_stop", width="stretch")
    palette = current_palette()
    seen = progress.news.probabilities[:, comparison.bag]
    four = four_probabilities(seen, comparison.candidates, comparison.true_index)
    left, right = st.columns(2, gap="large")
    with left:
        alt = texts.four_alt(run.plan.title, four[-1]) if len(four) else state_in_words
        charts.show(four_curves(four, palette, epochs, first=1, top=comparison.top), key="live-curves", alt=alt)
    with right:
        charts.show(accuracy_curves(progress.news.reports, epochs, palette), key="live-accuracy", alt=state_in_words)
