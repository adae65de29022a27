"""The attention itself: equations 2 to 4 with the numbers of one bag, and three ways to share attention out."""

from itertools import product
from typing import Any

import numpy as np
import streamlit as st

from ui.frame import moving
from ui.frame.palette import current_palette
from ui.lesson import kept, sentences, texts
from ui.lesson.case import Case
from ui.lesson.collected import collected, count_collected
from ui.lesson.recorded import Anatomy, attention_runs

TEMPERATURES = (0.1, 0.2, 0.35, 0.5, 0.7, 1.0, 1.5, 2.0, 3.5, 5.0, 10.0)
KINDS = ("sigmoid", "softmax", "scaled")


def show(case: Case) -> dict[str, Any]:
    runs = attention_runs()
    method = kept.show_choice(
        "scores_of", texts.SCORES_LABEL, tuple(runs.anatomy), "elimipl", texts.SCORES_TITLES.__getitem__
    )
    inside = runs.anatomy[method]
    xi = np.array(inside.xi[case.place])
    truth = np.array(runs.watched["tissue"].bags[case.place].truth, dtype=bool)
    palette = current_palette()
    colours = [palette.positive if own else palette.negative for own in truth]
    heat = moving.Slider("temperature", texts.TEMPERATURE_LABEL, TEMPERATURES, 1.0, plays=True)
    instance = moving.Slider("instance", texts.INSTANCE_LABEL, range(len(xi)), int(truth.argmax()))
    shares = {kind: [share_out(xi / t, kind, inside.l) for t in TEMPERATURES] for kind in KINDS}
    highest = min(1.0, 1.05 * max(float(np.max(shares["softmax"][TEMPERATURES.index(1.0)])), 3 / len(xi)))
    places = list(product(range(len(TEMPERATURES)), range(len(xi))))
    panels: list[moving.Panel] = [
        moving.Columns(
            (heat.key,), colours, shares[kind], highest, texts.SHARE_TITLES[kind],
            line=1 / len(xi), chosen_by=instance.key, height=180,
        )
        for kind in KINDS
    ]  # fmt: skip
    panels.append(moving.Words((instance.key,), [score_in_words(inside, case.place, j) for j in range(len(xi))]))
    panels.append(
        moving.Words(
            (heat.key, instance.key),
            [sentences.share_in_words(xi, {kind: shares[kind][t] for kind in KINDS}, TEMPERATURES[t], inside.l, j)
             for t, j in places],
        )
    )  # fmt: skip
    panels.append(
        moving.Words(
            (heat.key,),
            [
                sentences.spread_in_words({kind: shares[kind][t] for kind in KINDS}, truth)
                for t in range(len(TEMPERATURES))
            ],
        )
    )
    h = np.array(inside.h[case.place])
    z = [shares["scaled"][t] @ h for t in range(len(TEMPERATURES))]
    panels.append(
        moving.Columns(
            (heat.key,), [palette.non_candidate] * inside.l, z, float(h.max(axis=0).mean()) or 1.0, texts.Z_TITLE,
            texts.Z_AXIS, height=130,
        )
    )  # fmt: skip
    stands = moving.show("lesson-scores", (heat, instance), panels, texts.scores_alt(len(xi)))
    if stands[heat.key] != 1.0:
        collected("heat", "low" if stands[heat.key] < 1 else "high")
    st.caption(f"{texts.RECORDED}: {runs.about} {texts.SCORES_SEED[method]}")
    return {"temperatures": count_collected("heat"), "instance_moved": stands[instance.key] != instance.first}


def share_out(xi: np.ndarray, kind: str, width: int) -> np.ndarray:
    """Attention (n,) from scores (n,): DEMIPL's normalised sigmoid, the plain softmax, or eq. 3 with its √l."""
    if kind == "sigmoid":
        raised = 1 / (1 + np.exp(-xi))
    else:
        scaled = xi / np.sqrt(width) if kind == "scaled" else xi
        raised = np.exp(scaled - scaled.max())
    return raised / raised.sum()


def score_in_words(inside: Anatomy, bag: int, j: int) -> str:
    """Eq. 2 of one instance, term by term."""
    terms = zip(inside.w, inside.tanh[bag][j], inside.sigmoid[bag][j], strict=True)
    return sentences.score_in_words(j, list(terms), inside.xi[bag][j])
