"""What if bags were larger, held fewer positives, or came with more false labels? A small training at every change."""

from dataclasses import dataclass

import numpy as np
import streamlit as st

from bag_generators import InputError
from elimipl.answers.trust import auroc
from elimipl.candidates.crowd import Candidates
from elimipl.datasets.compose import SET, WhatIf, composed_tissue
from elimipl.methods import training_config
from elimipl_app.runs.trained import POLL_SECONDS, current_run, start_run
from elimipl_app.runs.worker import Plan, TrainingRun
from elimipl_app.shell import charts, choices
from elimipl_app.shell.cached import named_bags
from elimipl_app.shell.page import show_error
from elimipl_app.shell.palette import current_palette
from elimipl_app.shell.texts import in_line
from elimipl_app.train import texts
from elimipl_app.train.figures import what_if_curves

EPOCHS = 30
SETTINGS = {"hidden": 32, "dropout": 0.0, "batch": 32, "lr": 0.1, "epochs": EPOCHS, "seed": 0, "scaling": "zscore"}
MOST_SHOWN = 5
_RUN, _ASKED, _TRIED = "what_if_run", "what_if_asked", "what_if_tried"


@dataclass(frozen=True)
class Tried:
    """A finished what-if: what was asked, its curve, and how well attention found the positives."""

    title: str
    accuracies: tuple[float, ...]
    auroc: float | None


def show_what_if(method: str) -> None:
    """Three sliders and the curve they lead to; after the first one every change draws another."""
    st.subheader("What if the bags were different?", divider="gray", anchor=False)
    st.caption(
        "Composed bags of real tissue: instances of Deep from tiles of six tissues, each bag with those of one tile "
        "among those of stroma, which is none of their labels here. An instance has seen what lay around it in its "
        "own tile. A small network (l = 32, 30 epochs, a few seconds) learns from candidate sets with the method "
        "chosen beside and is measured on bags of other tiles. One seed: small differences mean nothing."
    )
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        size = choices.slider("Patches in a bag", 4, 32, 16, "train_bag_size", 4, width=220)
        share = choices.slider(
            "Share that carries the class", 5, 50, 25, "train_positives", 5, format="%d %%", width=220
        )
        r = choices.slider("r, false labels in a set", 1, 4, 1, "train_false_labels", width=220)
        pressed = st.button("Draw the curve", icon=":material/show_chart:", key="what_if_start")
    wanted = WhatIf(size, share / 100, r)
    asked, state = (method, wanted), st.session_state
    if pressed or state.get(_ASKED, asked) != asked:
        state[_ASKED] = asked
        try:
            start_run(_plan(method, wanted), _RUN)
        except InputError as error:
            show_error(error)
    run = current_run(_RUN)
    if run is not None:
        running = not run.progress.is_over
        st.fragment(_show, run_every=POLL_SECONDS if running else None)(run, running)


def _plan(method: str, wanted: WhatIf) -> Plan:
    training, held_out = composed_tissue(named_bags(SET), wanted)
    title = f"{method}, {wanted.positives} of {wanted.size} patches, r = {wanted.r}"
    candidates = Candidates("random", wanted.r, wanted.seed)
    return Plan(title, training, held_out, training_config(method, **SETTINGS), candidates, np.arange(1))


def _show(run: TrainingRun, was_running: bool) -> None:
    progress = run.progress
    if was_running and progress.is_over:
        st.rerun()
    if progress.error is not None:
        show_error(progress.error)
        return
    now = Tried(run.plan.title, tuple(report.held_out_accuracy or 0.0 for report in progress.news.reports), None)
    before: list[Tried] = st.session_state.setdefault(_TRIED, [])
    if progress.result is not None:
        now = _measured(run, now)
        before[:] = [*(one for one in before if one.title != now.title), now][-MOST_SHOWN:]
    earlier = [one for one in before if one.title != now.title]
    said = in_line(*run.place) or texts.what_if_said(now.title, now.accuracies, EPOCHS, now.auroc)
    st.markdown(said)
    curves = {one.title: one.accuracies for one in (*earlier, now)}
    chance = 1 / run.plan.training.n_classes
    charts.show(what_if_curves(curves, EPOCHS, chance, current_palette()), key="what-if", alt=said)


def _measured(run: TrainingRun, tried: Tried) -> Tried:
    """With the mean AUROC of attention over the held-out bags; computed once a run."""
    known = [one for one in st.session_state[_TRIED] if one.title == tried.title and one.accuracies == tried.accuracies]
    bags, trained = run.plan.held_out, run.progress.result
    if known or bags is None or trained is None or bags.instance_truth is None:
        return known[0] if known else tried
    attention, truth = trained.fitted.predict(bags).attention, bags.instance_truth
    assert attention is not None  # every method that this page trains is a network
    rows = [slice(start, end) for start, end in zip(bags.offsets, bags.offsets[1:], strict=False)]
    found = [auroc(truth[one], attention[one]) for one in rows]
    return Tried(tried.title, tried.accuracies, float(np.mean([one for one in found if one is not None])))
