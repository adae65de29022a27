"""Attention finds the instances: Figure 5 on digit bags and on the learner's phantom, epoch by epoch."""

from typing import Any

import numpy as np
import streamlit as st

from bag_generators import GENERATORS
from ui.figures.attention_map import attention_map
from ui.figures.instances import instance_bars
from ui.frame import charts, choices
from ui.frame.palette import current_palette
from ui.lesson import texts
from ui.lesson.case import Case
from ui.lesson.collected import collected, count_collected
from ui.lesson.figures.digits import digit_row
from ui.lesson.recorded import AttentionRun, WatchedBag, recorded_runs

DIGITS, PHANTOM = "digits", "phantom"


def show(case: Case) -> dict[str, Any]:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="large"):
        source = choices.one_of(texts.SOURCE_LABEL, (DIGITS, PHANTOM), "bags", DIGITS, texts.SOURCE_TITLES.__getitem__)
        recorded = recorded_runs()
        if source == PHANTOM and case.bag.generator not in recorded.phantoms:
            st.info(texts.not_recorded(GENERATORS[case.bag.generator].title), icon=":material/info:")
            return {"followed": count_collected("attention")}
        run = recorded.digits if source == DIGITS else recorded.phantoms[case.bag.generator]
        names = [bag.name for bag in run.bags]
        chosen = _choose_digit(run) if source == DIGITS else names.index(case.name)
    epoch = choices.stage(texts.EPOCH_LABEL, run.epochs, f"epoch_{source}")
    stage = run.epochs.index(epoch)
    if stage == len(run.epochs) - 1:
        collected("attention", source)
    bag = run.bags[chosen]
    _show_bag(case, source, bag, np.array(bag.attention[stage]))
    st.caption(texts.attention_caption(run, bag, stage))
    return {"followed": count_collected("attention")}


def _choose_digit(run: AttentionRun) -> int:
    labels = [run.labels[bag.true] for bag in run.bags]
    chosen = choices.one_of(texts.DIGIT_LABEL, labels, "digit", labels[0], shape="pills")
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
