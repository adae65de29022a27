"""How to learn: candidate sets, method and its settings."""

from typing import Any

import streamlit as st

from elimipl.candidates.crowd import Candidates
from elimipl.config import Config
from elimipl.datasets.dataset import BagDataset
from elimipl.methods import METHODS, training_config
from elimipl.methods.networks import uses
from elimipl.registries import CLI, LOSSES
from elimipl_app.inputs import picker
from elimipl_app.runs.worker import WATCHABLE_PACE
from elimipl_app.shell import choices
from elimipl_app.shell.address import N
from elimipl_app.train import texts
from elimipl_app.train.data import Data

DEFAULT_METHOD = "ELIMIPL"
MOST_EPOCHS = 1000


def choose_crowd(data: Data) -> Candidates:
    """Where the candidate sets come from."""
    st.subheader(texts.CANDIDATES_HEADING, divider="gray")
    known = bool((data.dataset.labels >= 0).all())
    made = ["random", "crowd"] if known else []
    kinds = ["own", *made] if data.has_own_candidates or not known else made
    kind = choices.one_of(
        texts.CANDIDATES_HEADING,
        kinds,
        # Other data bring other options, and a widget whose options change forgets its choice.
        "train_candidates" if kinds == made else "train_own_candidates",
        kinds[0],
        texts.CANDIDATE_TITLES.__getitem__,
        label_hidden=True,
        help=(
            "Random: the true label and r others drawn at random. Crowd: three simulated annotators who confuse "
            "look-alikes; a label two of them name is a candidate; where that leaves one label or none, their most "
            "likely labels are."
        ),
    )
    most = data.dataset.n_classes - 2
    r = 1
    if kind == "random" and most > 1:
        r = choices.slider("r, false labels in every candidate set", 1, most, 1, f"train_r{most}")
    seed = 0
    if kind != "own":
        seed = choices.number("Seed of the candidate sets", 0, 9999, 0, "train_candidate_seed")
    return Candidates(kind, min(r, most), seed)


def choose_method() -> str:
    """Name of the method."""
    st.subheader("Method", divider="gray")
    method = picker.choose_trainable("train_method", "Method", DEFAULT_METHOD, label_hidden=True)
    st.caption(METHODS[method].summary)
    return method


def choose_settings(method: str, dataset: BagDataset) -> tuple[Config, float, float | None]:
    """The settings of the run, the share of bags held out and the pace (epochs per second, None for full speed)."""
    st.subheader("Settings", divider="gray")
    settings: dict[str, Any] = {"scaling": "global" if dataset.generator == "pixels" else "zscore"}
    settings["epochs"] = _number("Epochs T", "epochs", 1, MOST_EPOCHS, 60, 10)
    settings["lr"] = _number("Learning rate", "lr", 0.001, 1.0, 0.1, 0.01, "%.3f")
    if uses(method, "mu"):
        settings["sparsity"] = choices.one_of(
            "Sparsity",
            list(texts.SPARSITY_TITLES),
            "train_sparsity",
            "entropy",
            texts.SPARSITY_TITLES.__getitem__,
            help=(
                "ℓ1, as in the paper, has the same slope for every candidate and can't make them sparse. "
                "The entropy of the candidates' shares can."
            ),
        )
        settings["mu"] = _number("μ, weight of the sparsity loss", "mu", 0.0, 20.0, 0.1, 0.1, "%.2f")
    if uses(method, "gamma"):
        settings["gamma"] = _number("γ, weight of the inhibition loss", "gamma", 0.0, 20.0, 1.0, 0.1, "%.2f")
    if LOSSES:
        loss = choices.one_of("Loss", [CLI, *LOSSES], "train_loss", CLI, shape="list")
        if loss != CLI:  # else the method's own, which is not always that one
            settings["loss"] = loss
    settings["seed"] = _number("Seed", "seed", 0, 9999, 0, 1)
    slow = choices.switch(
        "Slow down to 10 epochs per second",
        "train_slow",
        on=True,
        help="So that one can follow the curves. Off: as fast as the computer can.",
    )
    with st.expander("More", icon=":material/tune:"):
        settings["hidden"] = _number("Width l of the embedding", "hidden", 4, 1024, 16, 16)
        settings["batch"] = _number("Bags a step", "batch", 1, 512, 16, 8)
        settings["dropout"] = _number("Dropout", "dropout", 0.0, 0.9, 0.0, 0.1, "%.1f")
        share = _number("Share held out", "held_out", 0.0, 0.8, 0.3, 0.1, "%.1f")
    return training_config(method, **settings), share, WATCHABLE_PACE if slow else None


def _number(label: str, key: str, low: N, high: N, start: N, step: N, shown: str | None = None) -> N:
    return choices.number(label, low, high, start, f"train_{key}", step, format=shown)
