"""Disambiguation weights moving epoch by epoch, for one training bag at a time."""

from typing import Any

import numpy as np
import streamlit as st

from elimipl.labels import LabelSpace
from ui.figures.bars import class_bars
from ui.frame import charts, choices
from ui.frame.palette import current_palette
from ui.lesson import texts
from ui.lesson.case import Case
from ui.lesson.collected import collected, count_collected
from ui.lesson.figures.beliefs import belief_paths
from ui.lesson.recorded import recorded_runs


def show(_case: Case) -> dict[str, Any]:
    run = recorded_runs().weights
    names = [bag.name for bag in run.bags]
    chosen = choices.one_of(texts.BAG_LABEL, names, "bag", names[0], texts.bag_name, shape="pills")
    bag = run.bags[names.index(chosen)]
    weights, candidates = np.array(bag.weights), np.array(bag.candidates, dtype=bool)
    last = len(weights) - 1
    epoch = choices.slider(texts.EPOCH_LABEL, 0, last, 0, "epoch")
    if epoch == last:
        collected("beliefs", chosen)
    palette = current_palette()
    left, right = st.columns([1.3, 1], gap="large")
    with left:
        charts.show(
            belief_paths(weights, epoch, run.labels, candidates, bag.true, palette),
            "lesson-beliefs",
            texts.beliefs_alt(run.labels, weights[epoch], candidates, epoch),
        )
    with right:
        bars = class_bars(weights[epoch], LabelSpace.of(run.labels), candidates, palette, bag.true)
        bars.update_yaxes(type="category").update_xaxes(range=[0, 2.1], tickvals=[0, 0.5, 1])  # digits are names
        charts.show(
            bars,
            "lesson-belief-bars",
            texts.beliefs_alt(run.labels, weights[epoch], candidates, epoch),
        )
    st.caption(texts.weights_caption(run, epoch))
    return {"bags_followed": count_collected("beliefs")}
