"""The three losses and where they push the probabilities; ℓ1 and entropy minimised side by side."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import streamlit as st
import torch
from torch import Tensor

from elimipl.model.losses import (
    entropy_gradient,
    entropy_sparsity,
    inhibition_gradient,
    inhibition_loss,
    l1_gradient,
    l1_sparsity,
    mapping_loss,
)
from elimipl_app.lesson import kept, texts
from elimipl_app.lesson.case import Case
from elimipl_app.lesson.kept import collected, count_collected
from elimipl_app.lesson.steps.supervision import lesson_candidates
from elimipl_app.shell import moving
from elimipl_app.shell.palette import current_palette

LONG_STEP = 2.0
STEP_SIZE = 0.6
PARTS = ("mapping", "sparsity", "inhibition")


@dataclass(frozen=True, eq=False)
class Walks:
    """Descents for every pair of μ and γ, one after the other; γ runs faster."""

    probabilities: np.ndarray  # (pairs, steps + 1, k)
    ahead: np.ndarray  # (pairs, steps + 1, k): after one long step from there
    losses: np.ndarray  # (pairs, steps + 1, 3): the three losses without their weights


def gradients(energies: Tensor, candidates: Tensor, weights: Tensor, sparsity: str) -> tuple[Tensor, Tensor, Tensor]:
    """Derivatives of the three losses by the energies, each (m, k) and of every bag alone."""
    log_p = energies.log_softmax(1)
    p = log_p.exp()
    sparse = l1_gradient(p, candidates) if sparsity == "l1" else entropy_gradient(log_p, candidates)
    return p - weights, sparse, inhibition_gradient(log_p, p, candidates)


def walk(
    start: np.ndarray,
    candidates: np.ndarray,
    factors: Sequence[tuple[float, float, float]],
    sparsity: str,
    steps: int,
) -> Walks:
    """Descend from the energies `start` (k,) with an even belief; `factors` weigh mapping, sparsity and inhibition."""
    m = len(factors)
    energies = torch.tensor(start, dtype=torch.float64).repeat(m, 1)
    s = torch.tensor(candidates).repeat(m, 1)
    w = (s / s.sum(1, keepdim=True)).double()
    scale = torch.tensor(factors, dtype=torch.float64).T[:, :, None]  # (3, m, 1)
    at, ahead, losses = [], [], []
    for _ in range(steps + 1):
        pull = (torch.stack(gradients(energies, s, w, sparsity)) * scale).sum(0)
        at.append(energies.softmax(1).numpy())
        ahead.append((energies - LONG_STEP * pull).softmax(1).numpy())
        losses.append(np.array([_values(one[None], s[:1], w[:1], sparsity) for one in energies.log_softmax(1)]))
        energies = energies - STEP_SIZE * pull
    return Walks(*(np.stack(part, axis=1) for part in (at, ahead, losses)))


def descend(start: np.ndarray, candidates: np.ndarray, sparsity: str, gamma: float, steps: int) -> np.ndarray:
    """Probabilities (steps + 1, k) while a sparsity loss, with γ times inhibition, is minimised from `start` (k,)."""
    return walk(np.log(start), candidates, [(0.0, 1.0, gamma)], sparsity, steps).probabilities[0]


def _values(log_p: Tensor, candidates: Tensor, weights: Tensor, sparsity: str) -> tuple[float, float, float]:
    sparse = l1_sparsity if sparsity == "l1" else entropy_sparsity
    return (
        mapping_loss(log_p, weights).item(),
        sparse(log_p, candidates).item(),
        inhibition_loss(log_p, candidates).item(),
    )


LOSSES = ("mapping", "sparsity", "inhibition", "total")
STARTS = ("undecided", "false", "outside", "right")
FACTORS = (0.0, 0.1, 0.5, 1.0, 2.0, 3.0, 5.0, 7.0, 10.0)
"""Of μ and γ, up to the paper's 10."""
DEFAULT_MU, DEFAULT_GAMMA = 0.5, 1.0
WALK_STEPS, STRIDE = 40, 4
LEAD = 2.2  # how far the favoured energy lies above the others


def show_losses(case: Case) -> dict[str, Any]:
    candidates = lesson_candidates(case)
    left, right = st.columns([1, 1.9], gap="large")
    with left:
        loss = kept.show_choice("loss", "Loss", LOSSES, "mapping", texts.LOSS_TITLES.__getitem__)
        st.caption(texts.LOSS_FORMULAS[loss])
        sparsity = kept.show_choice(
            "sparsity", "Sparsity as", ("l1", "entropy"), "l1", texts.SPARSITY_TITLES.__getitem__
        )
        start = kept.show_choice(
            "start", "The model stands", STARTS, "undecided", texts.START_TITLES.__getitem__, "list"
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
    return walk(np.array(energies), np.array(candidates), factors, sparsity, WALK_STEPS)


def _show_walks(case: Case, candidates: np.ndarray, loss: str, walks: Walks) -> dict[str, float]:
    palette = current_palette()
    sliders = (
        moving.Slider("mu", "μ, weight of the sparsity loss (in the sum)", FACTORS, DEFAULT_MU),
        moving.Slider("gamma", "γ, weight of the inhibition loss (in the sum)", FACTORS, DEFAULT_GAMMA),
        moving.Slider("steps", "Steps downhill", tuple(range(0, WALK_STEPS + 1, STRIDE)), plays=True),
    )
    over = tuple(slider.key for slider in sliders)
    at, ahead, losses = (part[:, ::STRIDE] for part in (walks.probabilities, walks.ahead, walks.losses))
    pairs = product(FACTORS, FACTORS)
    lines = [
        texts.loss_values(values, mu, gamma) for (mu, gamma), path in zip(pairs, losses, strict=True) for values in path
    ]
    colours = [palette.candidate if inside else palette.non_candidate for inside in candidates]
    k = len(candidates)
    bars = moving.Bars(
        over, case.labels.names, colours, at.reshape(-1, k), ends=ahead.reshape(-1, k), framed=case.true_index
    )
    return moving.show(
        "lesson-losses",
        sliders,
        (bars, moving.Words(over, lines)),
        f"Probabilities of all labels, and where a step under {texts.LOSS_TITLES[loss]} moves them.",
    )


DESCENT_STEPS = 80
INHIBITION = 1.0
CANDIDATE_MASS = 0.8
DASHES = ("", "dash", "dot", "dashdot", "longdash")
DESCENT_STARTS = {
    "ahead": (3.0, 2.0),
    "close": (2.2, 2.0),
    "equal": (1.0, 1.0),
}
"""Share of the first candidate and of the second, where every other candidate has 1."""


def show_sparsity(case: Case) -> dict[str, Any]:
    candidates = lesson_candidates(case)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="large"):
        start = kept.show_choice(
            "from", "The candidates begin", list(DESCENT_STARTS), "ahead", texts.DESCENT_STARTS.__getitem__
        )
        inhibited = kept.show_switch("inhibit", "Let inhibition help")
    first = starting_probabilities(candidates, start)
    paths = {
        kind: descend(first, candidates, kind, INHIBITION * inhibited, DESCENT_STEPS) for kind in ("l1", "entropy")
    }
    slider = moving.Slider("steps_down", texts.DESCENT_LABEL, range(DESCENT_STEPS + 1), plays=True)
    panels: list[moving.Panel] = [_lines(kind, path, case, candidates) for kind, path in paths.items()]
    for kind, path in paths.items():
        wrong = [path_leader(p, candidates) != case.true_index for p in path]
        lines = [texts.descent_result(kind, p, candidates, case.labels.names, case.true_index) for p in path]
        alarm = [kind == "entropy" and so and p[candidates].max() > 0.5 for so, p in zip(wrong, path, strict=True)]
        panels.append(moving.Words((slider.key,), lines, alarm))
    stands = moving.show(
        "lesson-descent",
        (slider,),
        panels,
        "Probabilities of the candidates while the ℓ1 sum, and while their entropy, is minimised.",
    )
    if stands[slider.key] == DESCENT_STEPS:
        collected("descents", start)
        st.info(texts.DESCENT_LESSON, icon=":material/lightbulb:")
    return {"starts_finished": count_collected("descents"), "inhibited": inhibited}


def starting_probabilities(candidates: np.ndarray, start: str) -> np.ndarray:
    """(k,): 80 % on the candidates, divided as `start` says, the rest even over the others."""
    shares = np.ones(int(candidates.sum()))
    shares[:2] = DESCENT_STARTS[start]
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
    series.append(moving.Series("all non-candidates", palette.non_candidate, path[:, ~candidates].sum(axis=1).tolist()))
    return moving.Lines(
        ("steps_down",), list(range(DESCENT_STEPS + 1)), series, texts.DESCENT_LABEL, title=texts.DESCENT_TITLES[kind],
        weight=1.0, ahead=False,
    )  # fmt: skip
