"""The three losses one by one, with the way they push the probabilities."""

from typing import Any

import numpy as np
import streamlit as st

from ui.frame import charts, choices
from ui.frame.palette import current_palette
from ui.lesson import texts
from ui.lesson.case import Case, candidates_of
from ui.lesson.collected import collected
from ui.lesson.downhill import Pull, probabilities, pulls, step_down
from ui.lesson.figures.loss_arrows import loss_arrows

LOSSES = ("mapping", "sparsity", "inhibition", "total")
STARTS = ("undecided", "false", "outside", "right")
DEFAULT_MU, DEFAULT_GAMMA = 0.5, 1.0
ARROW_STEP = 2.0  # large, so that the arrows can be seen
LEAD = 2.2  # how far the favoured energy lies above the others
STEPS_AT_ONCE = 5
FEWEST_FALSE = 2


def show(case: Case) -> dict[str, Any]:
    candidates = lesson_candidates(case)
    left, right = st.columns([1, 1.4], gap="large")
    with left:
        loss, sparsity = _choose_loss()
        mu = choices.slider(texts.MU_LABEL, 0.0, 3.0, DEFAULT_MU, "mu", 0.1)
        gamma = choices.slider(texts.GAMMA_LABEL, 0.0, 3.0, DEFAULT_GAMMA, "gamma", 0.1)
        start = choices.one_of(texts.START_LABEL, STARTS, "start", title=texts.START_TITLES.__getitem__, shape="list")
        energies = _energies(case, candidates, start)
        weights = candidates / candidates.sum()
        parts = pulls(energies, candidates, weights, mu, gamma, sparsity)
        with st.container(horizontal=True):
            st.button(
                texts.STEPS_LABEL.format(count=STEPS_AT_ONCE), key="walk", icon=":material/south_east:",
                on_click=_walk, args=(case, candidates, start, loss, mu, gamma, sparsity),
            )  # fmt: skip
            st.button(texts.RESET_LABEL, key="reset", icon=":material/restart_alt:", on_click=_reset)
    with right:
        before, after = probabilities(energies), probabilities(step_down(energies, parts[loss], ARROW_STEP))
        charts.show(
            loss_arrows(before, after, case.labels, candidates, case.true_index, current_palette()),
            "lesson-losses",
            texts.arrows_alt(case.labels.names, before, after),
        )
        st.markdown(texts.loss_values({name: part.value for name, part in parts.items()}, mu, gamma))
    return {
        "losses_seen": collected("losses", loss),
        "mu_moved": mu != DEFAULT_MU,
        "gamma_moved": gamma != DEFAULT_GAMMA,
    }


def lesson_candidates(case: Case) -> np.ndarray:
    """The learner's own candidate set, or two false positives where they chose fewer."""
    r, draw = st.session_state.get("crowd", (0, 1))
    return candidates_of(case, max(r, FEWEST_FALSE), draw)


def _choose_loss() -> tuple[str, str]:
    loss = choices.one_of(texts.LOSS_LABEL, LOSSES, "loss", "mapping", texts.LOSS_TITLES.__getitem__)
    kinds = ("l1", "entropy")
    sparsity = choices.one_of(texts.SPARSITY_LABEL, kinds, "sparsity", "l1", texts.SPARSITY_TITLES.__getitem__)
    st.caption(texts.LOSS_FORMULAS[loss])
    return loss, sparsity


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


def _place(case: Case, start: str, candidates: np.ndarray) -> tuple[object, ...]:
    return case.true_index, start, tuple(candidates.tolist())


def _energies(case: Case, candidates: np.ndarray, start: str) -> np.ndarray:
    """Where the learner has walked to; another picture or start begins anew."""
    walked = st.session_state.get("walked")
    if walked is not None and walked[0] == _place(case, start, candidates):
        return np.array(walked[1])
    return starting_energies(case, candidates, start)


def _walk(case: Case, candidates: np.ndarray, start: str, loss: str, mu: float, gamma: float, sparsity: str) -> None:
    energies = _energies(case, candidates, start)
    weights = candidates / candidates.sum()
    for _ in range(STEPS_AT_ONCE):
        pull: Pull = pulls(energies, candidates, weights, mu, gamma, sparsity)[loss]
        energies = step_down(energies, pull)
    st.session_state["walked"] = (_place(case, start, candidates), energies.tolist())


def _reset() -> None:
    st.session_state["walked"] = None
