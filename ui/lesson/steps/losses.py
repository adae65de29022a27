"""The three losses one by one, with the way they push the probabilities while μ, γ and the steps are dragged."""

from itertools import product
from typing import Any

import numpy as np
import streamlit as st

from ui.frame import moving
from ui.frame.palette import current_palette
from ui.lesson import kept, sentences, texts
from ui.lesson.case import Case
from ui.lesson.collected import collected
from ui.lesson.downhill import Walks, walk
from ui.lesson.steps.labels import lesson_candidates

LOSSES = ("mapping", "sparsity", "inhibition", "total")
STARTS = ("undecided", "false", "outside", "right")
FACTORS = (0.0, 0.1, 0.5, 1.0, 2.0, 3.0, 5.0, 7.0, 10.0)
"""Of μ and γ, up to the paper's 10."""
DEFAULT_MU, DEFAULT_GAMMA = 0.5, 1.0
STEPS, STRIDE = 40, 4
LEAD = 2.2  # how far the favoured energy lies above the others


def show(case: Case) -> dict[str, Any]:
    candidates = lesson_candidates(case)
    left, right = st.columns([1, 1.9], gap="large")
    with left:
        loss = kept.show_choice("loss", texts.LOSS_LABEL, LOSSES, "mapping", texts.LOSS_TITLES.__getitem__)
        st.caption(texts.LOSS_FORMULAS[loss])
        sparsity = kept.show_choice(
            "sparsity", texts.SPARSITY_LABEL, ("l1", "entropy"), "l1", texts.SPARSITY_TITLES.__getitem__
        )
        start = kept.show_choice(
            "start", texts.START_LABEL, STARTS, "undecided", texts.START_TITLES.__getitem__, "list"
        )
    walks = _walks(tuple(starting_energies(case, candidates, start)), tuple(candidates.tolist()), loss, sparsity)
    with right:
        stands = _show_walks(case, candidates, loss, walks)
    return {
        "losses_seen": collected("losses", loss),
        "mu_moved": stands["mu"] != DEFAULT_MU,
        "gamma_moved": stands["gamma"] != DEFAULT_GAMMA,
    }


def starting_energies(case: Case, candidates: np.ndarray, start: str) -> np.ndarray:
    """Energies (k,) of a model that is undecided, believes a false positive or a non-candidate, or is right."""
    energies = np.zeros(len(candidates))
    others = candidates.copy()
    others[case.true_index] = False
    favoured = {
        "false": int(np.flatnonzero(others)[0]),
        "outside": int(np.flatnonzero(~candidates)[0]),
        "right": case.true_index,
    }
    if start in favoured:
        energies[favoured[start]] = LEAD
    return energies


@st.cache_data(max_entries=64, show_spinner=False)
def _walks(energies: tuple[float, ...], candidates: tuple[bool, ...], loss: str, sparsity: str) -> Walks:
    alone = {"mapping": (1.0, 0.0, 0.0), "sparsity": (0.0, 1.0, 0.0), "inhibition": (0.0, 0.0, 1.0)}
    factors = [(1.0, mu, gamma) if loss == "total" else alone[loss] for mu, gamma in product(FACTORS, FACTORS)]
    return walk(np.array(energies), np.array(candidates), factors, sparsity, STEPS)


def _show_walks(case: Case, candidates: np.ndarray, loss: str, walks: Walks) -> dict[str, float]:
    palette = current_palette()
    sliders = (
        moving.Slider("mu", texts.MU_LABEL, FACTORS, DEFAULT_MU),
        moving.Slider("gamma", texts.GAMMA_LABEL, FACTORS, DEFAULT_GAMMA),
        moving.Slider("steps", texts.STEPS_LABEL, tuple(range(0, STEPS + 1, STRIDE)), plays=True),
    )
    over = tuple(slider.key for slider in sliders)
    at, ahead, losses = (part[:, ::STRIDE] for part in (walks.probabilities, walks.ahead, walks.losses))
    pairs = product(FACTORS, FACTORS)
    lines = [
        sentences.loss_values(values, mu, gamma)
        for (mu, gamma), path in zip(pairs, losses, strict=True)
        for values in path
    ]
    colours = [palette.candidate if inside else palette.non_candidate for inside in candidates]
    k = len(candidates)
    bars = moving.Bars(
        over, case.labels.names, colours, at.reshape(-1, k), ends=ahead.reshape(-1, k), framed=case.true_index
    )
    return moving.show(
        "lesson-losses", sliders, (bars, moving.Words(over, lines)), texts.losses_alt(texts.LOSS_TITLES[loss])
    )
