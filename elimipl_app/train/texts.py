"""Every text of the Train page, and of the trained models on the Explore page."""

from collections.abc import Sequence

import numpy as np

from elimipl.training.reports import EpochReport
from elimipl_app.shell.texts import duration

DATA_TITLES = {
    "phantoms": "Drawn phantoms",
    "digits": "Digits",
    "tissue7": "Tissue tiles",
    "own": "Your own",
}
DATA_NAMES = {"phantoms": "drawn phantoms", "digits": "digits", "tissue7": "tissue tiles"}
"""In the name of a run and of its results."""
DATA_ABOUT = {
    "phantoms": "Drawings of seven tissues. The true instances of every bag are known. Around the class all show loose "
    "tissue, akin to stroma (STR), which is one of the seven. A model of drawings can't judge real tissue, and says "
    "so.",
    "digits": "Handwritten digits: a bag holds two of an even digit among odd ones. The true instances are known.",
    "tissue7": "Features of 128 real tiles (CC BY 4.0), each in four mirrored and turned copies that stay together.",
    "own": "A .zip of class folders with pictures, or a bag file (.safetensors) made by “python -m elimipl bags”.",
}
MAKING_BAGS = "Making bags…"

CANDIDATES_HEADING = "Candidate labels"
CANDIDATE_TITLES = {"random": "Random", "crowd": "Crowd of three", "own": "As in the file"}

SPARSITY_TITLES = {"entropy": "Entropy", "l1": "ℓ1 (paper)"}


WEIGHTS_HELP = (
    "Every candidate starts with the same weight; eq. 6 moves them towards what the model says. "
    "Green is the true label, which the training never sees."
)


def ended(title: str, state: str, epoch: int, seconds: float, stopped_within: float | None) -> str:
    """How a run came to its end; `title` says what was trained on which data."""
    if state == "done":
        return f"{title}. Done: {epoch} epochs in {duration(seconds)}."
    if epoch == 0:
        return f"{title}. Stopped before the first epoch."
    asked = "" if stopped_within is None else f", {duration(stopped_within)} after you asked"
    return f"{title}. Stopped after epoch {epoch}{asked}. The model is as it was then and can be used."


def loss_alt(reports: Sequence[EpochReport]) -> str:
    """Screen reader text of the loss curves."""
    if not reports:
        return "Loss curves; training has not begun."
    first, last = reports[0].losses["total"], reports[-1].losses["total"]
    return f"Loss curves: total loss {first:.3f} after the first epoch, {last:.3f} after epoch {reports[-1].epoch}."


def accuracy_alt(reports: Sequence[EpochReport]) -> str:
    """Screen reader text of the accuracy curves."""
    if not reports:
        return "Accuracy curves; training has not begun."
    held_out = reports[-1].held_out_accuracy
    share = "not measured" if held_out is None else f"{held_out:.0%}"
    return f"Accuracy curves: held-out bags {share} after epoch {reports[-1].epoch}."


def weights_alt(weights: np.ndarray, candidates: np.ndarray) -> str:
    """Screen reader text of the weight bars, (b, k) each."""
    sharpest = [f"{row.max():.0%} of {int(members.sum())}" for row, members in zip(weights, candidates, strict=True)]
    return f"Weights of {len(sharpest)} bags; heaviest candidate of each: {', '.join(sharpest)}."


def what_if_said(title: str, accuracies: Sequence[float], epochs: int, auroc: float | None) -> str:
    """How a what-if stands, in a sentence."""
    if not accuracies:
        return f"**{title}**: training begins."
    now = f"**{title}**: {accuracies[-1]:.0%} of the held-out bags are right after epoch {len(accuracies)} of {epochs}."
    return now if auroc is None else f"{now} Attention finds the patches of the class with an AUROC of {auroc:.2f}."
