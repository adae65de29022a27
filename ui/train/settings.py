"""How to learn: candidate sets, method and its settings."""

from typing import Any

import streamlit as st

from elimipl.config import Config
from elimipl.data.candidates import Candidates
from elimipl.dataset import BagDataset
from elimipl.variants import METHODS, method_config, uses
from ui.train import texts
from ui.train.data import Data

MOST_EPOCHS = 1000
WATCHABLE_PACE = 10.0  # epochs a second


def choose_candidates(data: Data) -> Candidates:
    """Where the candidate sets come from."""
    st.subheader(texts.CANDIDATES_HEADING, divider="gray")
    known = bool((data.dataset.labels >= 0).all())
    made = ["random", "crowd"] if known else []
    kinds = ["own", *made] if data.has_own_candidates or not known else made
    kind = st.segmented_control(
        texts.CANDIDATES_HEADING,
        options=kinds,
        default=kinds[0],
        required=True,
        format_func=texts.CANDIDATE_TITLES.__getitem__,
        help=texts.CANDIDATES_HELP,
        # Other data bring other options, and a widget whose options change forgets its choice.
        key="train_candidates" if kinds == made else "train_own_candidates",
        bind="query-params",
        label_visibility="collapsed",
    )
    most = data.dataset.n_classes - 2
    r = 1
    if kind == "random" and most > 1:
        r = st.slider(texts.R_LABEL, 1, most, 1, key=f"train_r{most}", bind="query-params")
    seed = 0
    if kind != "own":
        seed = st.number_input(texts.CANDIDATE_SEED_LABEL, 0, 9999, 0, key="train_candidate_seed", bind="query-params")
    return Candidates(kind, min(r, most), int(seed))


def choose_method() -> str:
    """Name of the method."""
    st.subheader(texts.METHOD_HEADING, divider="gray")
    method = st.selectbox(
        texts.METHOD_LABEL, METHODS, key="train_method", bind="query-params", label_visibility="collapsed"
    )
    st.caption(texts.METHOD_ABOUT[method])
    return method


def choose_settings(method: str, dataset: BagDataset) -> tuple[Config, float, float | None]:
    """The settings of the run, the share of bags held out and the pace (epochs a second, None for full speed)."""
    st.subheader(texts.SETTINGS_HEADING, divider="gray")
    settings: dict[str, Any] = {"scaling": "global" if dataset.generator == "pixels" else "zscore"}
    settings["epochs"] = _number(texts.EPOCHS_LABEL, "epochs", 1, MOST_EPOCHS, 60, 10)
    settings["lr"] = _number(texts.LR_LABEL, "lr", 0.001, 1.0, 0.1, 0.01, "%.3f")
    if uses(method, "mu"):
        settings["sparsity"] = st.segmented_control(
            texts.SPARSITY_LABEL,
            options=list(texts.SPARSITY_TITLES),
            default="entropy",
            required=True,
            format_func=texts.SPARSITY_TITLES.__getitem__,
            help=texts.SPARSITY_HELP,
            key="train_sparsity",
            bind="query-params",
        )
        settings["mu"] = _number(texts.MU_LABEL, "mu", 0.0, 20.0, 0.1, 0.1, "%.2f")
    if uses(method, "gamma"):
        settings["gamma"] = _number(texts.GAMMA_LABEL, "gamma", 0.0, 20.0, 1.0, 0.1, "%.2f")
    settings["seed"] = _number(texts.SEED_LABEL, "seed", 0, 9999, 0, 1)
    slow = st.toggle(texts.PACE_LABEL, value=True, help=texts.PACE_HELP, key="train_slow", bind="query-params")
    with st.expander(texts.MORE_LABEL, icon=":material/tune:"):
        settings["hidden"] = _number(texts.HIDDEN_LABEL, "hidden", 4, 1024, 16, 16)
        settings["batch"] = _number(texts.BATCH_LABEL, "batch", 1, 512, 16, 8)
        settings["dropout"] = _number(texts.DROPOUT_LABEL, "dropout", 0.0, 0.9, 0.0, 0.1, "%.1f")
        share = _number(texts.HELD_OUT_LABEL, "held_out", 0.0, 0.8, 0.3, 0.1, "%.1f")
    return method_config(method, **settings), share, WATCHABLE_PACE if slow else None


def _number(
    label: str, key: str, low: float, high: float, start: float, step: float, shown: str | None = None
) -> float:
    return st.number_input(label, low, high, start, step, shown, key=f"train_{key}", bind="query-params")
