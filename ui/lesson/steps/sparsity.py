"""Why the ℓ1 sum can't make candidates sparse and what entropy does instead: both minimised side by side."""

from typing import Any

import numpy as np
import streamlit as st

from ui.frame import moving
from ui.frame.palette import current_palette
from ui.lesson import kept, sentences, texts
from ui.lesson.case import Case
from ui.lesson.collected import collected, count_collected
from ui.lesson.downhill import descend
from ui.lesson.steps.labels import lesson_candidates

STEPS = 80
INHIBITION = 1.0
CANDIDATE_MASS = 0.8
DASHES = ("", "dash", "dot", "dashdot", "longdash")
STARTS = {
    "ahead": (3.0, 2.0),
    "close": (2.2, 2.0),
    "equal": (1.0, 1.0),
}
"""Share of the first candidate and of the second, where every other candidate has 1."""


def show(case: Case) -> dict[str, Any]:
    candidates = lesson_candidates(case)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="large"):
        start = kept.show_choice(
            "from", texts.DESCENT_START_LABEL, list(STARTS), "ahead", texts.DESCENT_STARTS.__getitem__
        )
        inhibited = kept.show_switch("inhibit", texts.INHIBIT_LABEL)
    first = starting_probabilities(candidates, start)
    paths = {kind: descend(first, candidates, kind, INHIBITION * inhibited, STEPS) for kind in ("l1", "entropy")}
    slider = moving.Slider("steps_down", texts.DESCENT_LABEL, range(STEPS + 1), plays=True)
    panels: list[moving.Panel] = [_lines(kind, path, case, candidates) for kind, path in paths.items()]
    for kind, path in paths.items():
        wrong = [path_leader(p, candidates) != case.true_index for p in path]
        lines = [sentences.descent_result(kind, p, candidates, case.labels.names, case.true_index) for p in path]
        alarm = [kind == "entropy" and so and p[candidates].max() > 0.5 for so, p in zip(wrong, path, strict=True)]
        panels.append(moving.Words((slider.key,), lines, alarm))
    stands = moving.show("lesson-descent", (slider,), panels, texts.DESCENT_ALT)
    if stands[slider.key] == STEPS:
        collected("descents", start)
        st.info(texts.DESCENT_LESSON, icon=":material/lightbulb:")
    return {"starts_finished": count_collected("descents"), "inhibited": inhibited}


def starting_probabilities(candidates: np.ndarray, start: str) -> np.ndarray:
    """(k,): 80 % on the candidates, divided as `start` says, the rest even over the others."""
    shares = np.ones(int(candidates.sum()))
    shares[:2] = STARTS[start]
    first = np.zeros(len(candidates))
    first[candidates] = CANDIDATE_MASS * shares / shares.sum()
    first[~candidates] = (1 - CANDIDATE_MASS) / int((~candidates).sum())
    return first


def path_leader(p: np.ndarray, candidates: np.ndarray) -> int:
    """The candidate with the highest probability."""
    return int(np.where(candidates, p, -1).argmax())


def _lines(kind: str, path: np.ndarray, case: Case, candidates: np.ndarray) -> moving.Lines:
    palette = current_palette()
    series = [
        moving.Series(
            texts.true_name(case.labels.names[index], index == case.true_index),
            palette.true if index == case.true_index else palette.candidate,
            path[:, index].tolist(),
            DASHES[number % len(DASHES)],
            4 if index == case.true_index else 2.5,
        )
        for number, index in enumerate(np.flatnonzero(candidates).tolist())
    ]
    series.append(moving.Series(texts.ALL_OTHERS, palette.non_candidate, path[:, ~candidates].sum(axis=1).tolist()))
    return moving.Lines(
        ("steps_down",), list(range(STEPS + 1)), series, texts.DESCENT_LABEL, title=texts.DESCENT_TITLES[kind],
        weight=1.0, ahead=False,
    )  # fmt: skip
