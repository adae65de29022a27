"""Attention finds the instances: Figure 5 on digit bags and on the learner's phantom, epoch by epoch."""

from typing import Any

import numpy as np
import streamlit as st

from ui.figures.attention_map import attention_map
from ui.figures.instances import instance_bars
from ui.frame import charts
from ui.frame.palette import current_palette
from ui.lesson import texts
from ui.lesson.case import Case
from ui.lesson.collected import collected, count_collected
from ui.lesson.figures.digits import digit_row
from ui.lesson.recorded import AttentionRun, WatchedBag, recorded_runs

DIGITS, PHANTOM = "digits", "phantom"


def show(case: Case) -> dict[str, Any]:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="large"):
        source = st.segmented_control(
            texts.SOURCE_LABEL,
            (DIGITS, PHANTOM),
            default=DIGITS,
            required=True,
            wrap=True,
            format_func=texts.SOURCE_TITLES.__getitem__,
            key="bags",
            bind="query-params",
        )
        run = recorded_runs().digits if source == DIGITS else recorded_runs().phantoms[case.bag.generator]
        names = [bag.name for bag in run.bags]
        place = _choose_digit(run) if source == DIGITS else names.index(case.name)
    epoch = st.select_slider(texts.EPOCH_LABEL, run.epochs, key=f"epoch_{source}", bind="query-params")
    stage = run.epochs.index(epoch)
    if stage == len(run.epochs) - 1:
        collected("attention", source)
    bag = run.bags[place]
    _show_bag(case, source, bag, np.array(bag.attention[stage]))
    st.caption(texts.attention_caption(run, bag, stage))
    return {"followed": count_collected("attention")}


def _choose_digit(run: AttentionRun) -> int:
    labels = [run.labels[bag.true] for bag in run.bags]
    chosen = st.pills(
        texts.DIGIT_LABEL, labels, default=labels[0], required=True, wrap=True, key="digit", bind="query-params"
    )
    return labels.index(chosen)


def _show_bag(case: Case, source: str, bag: WatchedBag, attention: np.ndarray) -> None:
    palette = current_palette()
    truth = np.array(bag.truth, dtype=bool)
    highest = float(np.max(bag.attention))
    bars = instance_bars(attention, palette, "attention", truth).update_yaxes(range=[0, 1.05 * highest])
    bars.update_traces(width=0.7, selector={"type": "bar"})
    alt = texts.attention_alt(attention, truth)
    if source == DIGITS:
        charts.show(digit_row(np.array(bag.pixels), truth, attention.tolist(), palette), "lesson-digits", alt)
        charts.show(bars, "lesson-attention", alt)
        return
    left, right = st.columns([1, 1.5], gap="large")
    with left:
        figure = attention_map(case.image, case.bag, attention, highest, None, palette, "attention")
        charts.show(figure.update_layout(height=300), "lesson-map", alt)
    with right:
        charts.show(bars.update_layout(height=300), "lesson-attention", alt)
