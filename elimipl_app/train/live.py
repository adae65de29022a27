"""The Train page's one run: starting it, what it shows while it runs and afterwards, keeping what comes out."""

import numpy as np
import streamlit as st

from bag_generators import InputError
from elimipl.cards.finish import Finished
from elimipl.jobs import Progress
from elimipl_app.charts.curves import accuracy_curves, loss_curves
from elimipl_app.runs.trained import POLL_SECONDS, current_run, keep, show_take_along, start_run
from elimipl_app.runs.worker import Plan, TrainingRun
from elimipl_app.shell import charts
from elimipl_app.shell.markdown import escape
from elimipl_app.shell.page import show_error
from elimipl_app.shell.palette import current_palette
from elimipl_app.shell.texts import duration, in_line
from elimipl_app.train import texts
from elimipl_app.train.figures import weight_bars


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
    summary.markdown(
        f"**{len(plan.training)}** bags to train on, {f'**{held_out}**' if held_out else 'none'} held out; candidate "
        f"sets of {average:.2f} labels on average."
    )


METRIC_WIDTH = 140  # screen px; those that find no room go to the next row


def show_run(run: TrainingRun) -> None:
    """The run as it stands; while it goes on this part of the page asks for news by itself."""
    running = not run.progress.is_over
    st.fragment(_show, run_every=POLL_SECONDS if running else None)(run, running)


def _show(run: TrainingRun, was_running: bool) -> None:
    progress = run.progress
    if was_running and progress.is_over:
        st.rerun()  # the whole page: the buttons change, and nobody asks for news any more
    if not progress.is_over:
        _show_status(run, progress)
    _show_numbers(run, progress)
    _show_curves(progress, run.plan.config.epochs)
    show_weights(run.plan, progress, movable=progress.is_over)


def _show_status(run: TrainingRun, progress: Progress[Finished]) -> None:
    done, stop = st.columns([4, 1.3], vertical_alignment="center")
    said = (escape(run.plan.title), f"epoch {progress.done} of {progress.total}", in_line(*run.place))
    done.progress(progress.done / progress.total, " · ".join(filter(None, said)))
    stop.button("Stop training", icon=":material/stop:", type="primary", on_click=run.stop, key="stop", width="stretch")


def show_end(run: TrainingRun) -> None:
    """How a run that is over came to its end."""
    progress = run.progress
    if progress.error is not None:
        show_error(progress.error)
    else:
        title = f"**{escape(run.plan.title)}**"
        text = texts.ended(title, progress.state, progress.done, progress.seconds, progress.stopped_within)
        st.success(text, icon=":material/check_circle:")


def _show_numbers(run: TrainingRun, progress: Progress[Finished]) -> None:
    running = not progress.is_over
    last = progress.news.reports[-1] if progress.news.reports else None
    time = progress.seconds_left if running else progress.seconds
    shown = (
        ("Epoch", f"{progress.done} / {run.plan.config.epochs}", None),
        ("Loss", f"{last.losses['total']:.3f}" if last else "–", None),
        ("Training bags", _share(last.train_accuracy if last else None), None),
        ("Held-out bags", _share(last.held_out_accuracy if last else None), None),
        (
            "True label found",
            _share(last.disambiguation_accuracy if last else None),
            "Share of training bags whose heaviest candidate is the true label.",
        ),
        ("Time left" if running else "Time taken", duration(time), None),
    )
    with st.container(horizontal=True, gap="small"):
        for label, value, explanation in shown:
            st.metric(label, value, help=explanation, width=METRIC_WIDTH)


def _show_curves(progress: Progress[Finished], epochs: int) -> None:
    palette, reports = current_palette(), progress.news.reports
    left, right = st.columns(2, gap="large")
    with left:
        st.markdown(
            "**Losses**",
            help=(
                "Means over the training bags. The parts are drawn without their weights μ and γ, the total with them."
            ),
        )
        charts.show(
            loss_curves(reports, epochs, palette),
            key="losses",
            alt=texts.loss_alt(reports),
        )
    with right:
        st.markdown("**Accuracy**")
        charts.show(
            accuracy_curves(reports, epochs, palette),
            key="accuracies",
            alt=texts.accuracy_alt(reports),
        )


def show_weights(plan: Plan, progress: Progress[Finished], movable: bool) -> None:
    """The weights of the watched bags: the latest, or those of an epoch to choose."""
    st.markdown("**What training believes: weights of a few bags**", help=texts.WEIGHTS_HELP)
    epoch = progress.done
    if movable and epoch > 0:
        epoch = st.slider("Weights after epoch", 0, progress.done, progress.done, key="weights_at")
    _draw_weights(plan, progress.news.weights[epoch])


def show_start(plan: Plan) -> None:
    """Where training begins: the watched bags with equal weights for all candidates."""
    members = plan.training.candidates[plan.watched]
    st.markdown("**Before the first epoch**", help=texts.WEIGHTS_HELP)
    _draw_weights(plan, members / members.sum(axis=1, keepdims=True))


def _draw_weights(plan: Plan, weights: np.ndarray) -> None:
    bags = plan.training
    members = bags.candidates[plan.watched]
    charts.show(
        weight_bars(weights, members, bags.labels[plan.watched], bags.label_space, current_palette()),
        key="weights",
        alt=texts.weights_alt(weights, members),
    )


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.0%}"
