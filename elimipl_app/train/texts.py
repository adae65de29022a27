"""Every text of the Train page, and of the trained models on the Explore page."""

from collections.abc import Sequence

import numpy as np

from elimipl.training.reports import EpochReport
from elimipl_app.shell.texts import duration

MOST_CLASSES = 12  # that a sentence names
INTRO = (
    "Train a model on bags whose labels are only **candidate sets**, and watch it find out which candidate is true. "
    "Here are bags of the paper's seven tissues, real and drawn, of digits, and any label space in a file of your own. "
    "Nothing you do here changes the models that ship, or anybody else's."
)

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
UPLOAD_HELP = (
    "At most 50 MB and 1,000 pictures; kept in memory for this browser, up to ten minutes after you last looked at it."
)
MAKING_BAGS = "Making bags…"

CANDIDATES_HEADING = "Candidate labels"
CANDIDATE_TITLES = {"random": "Random", "crowd": "Crowd of three", "own": "As in the file"}
CANDIDATES_HELP = (
    "Random: the true label and r others drawn at random. Crowd: three simulated annotators who confuse look-alikes; "
    "a label two of them name is a candidate; where that leaves one label or none, their most likely labels are."
)

METHOD_ABOUT = {
    "ELIMIPL": "All three losses: mapping with moving weights, sparsity, inhibition of the non-candidates.",
    "DEMIPL": "The predecessor: mapping with moving weights, and sigmoid attention. Non-candidates are not used.",
    "MA": "Only the mapping loss with moving weights.",
    "MA+SP": "Mapping and sparsity; non-candidates are not used.",
    "MA+IN": "Mapping and inhibition; no sparsity.",
    "CE-SP-IN": "All candidates stay equally believed; sparsity and inhibition as in ELIMIPL.",
    "CE": "Cross-entropy: all candidates stay equally believed, nothing else.",
}
SPARSITY_TITLES = {"entropy": "Entropy", "l1": "ℓ1 (paper)"}
SPARSITY_HELP = (
    "ℓ1, as in the paper, has the same slope for every candidate and can't make them sparse. "
    "The entropy of the candidates' shares can."
)

WHAT_IF_ABOUT = (
    "Composed bags of real tissue: instances of Deep from tiles of six tissues, each bag with those of one tile among "
    "those of stroma, which is none of their labels here. An instance has seen what lay around it in its own tile. "
    "A small network (l = 32, 30 epochs, a few seconds) learns from candidate sets with the method "
    "chosen beside and is measured on bags of other tiles. One seed: small differences mean nothing."
)

LOSS_HELP = "Means over the training bags. The parts are drawn without their weights μ and γ, the total with them."
WEIGHTS_HELP = (
    "Every candidate starts with the same weight; eq. 6 moves them towards what the model says. "
    "Green is the true label, which the training never sees."
)


def still_here(name: str) -> str:
    """Said of an upload from before a reload or a look at another page."""
    return f"**{name}** is still here."


def bags_summary(bags: int, smallest: int, largest: int, features: int, classes: Sequence[str]) -> str:
    """What the data are, in a sentence."""
    size = f"{smallest}" if smallest == largest else f"{smallest} to {largest}"
    return f"{bags} bags of {size} instances × {features} features, {len(classes)} classes: {_listed(classes)}."


def _listed(classes: Sequence[str]) -> str:
    more = "" if len(classes) <= MOST_CLASSES else f" and {len(classes) - MOST_CLASSES} more"
    return f"{', '.join(classes[:MOST_CLASSES])}{more}"


def split_summary(training: int, held_out: int, average: float) -> str:
    """What is trained on, in a sentence."""
    summary = f"**{training}** bags to train on"
    summary += f", **{held_out}** held out" if held_out else ", none held out"
    return f"{summary}; candidate sets of {average:.2f} labels on average."


def refused_pictures(count: int, name: str, reason: str) -> str:
    """Pictures of an upload that were left out."""
    return f"{count} picture{'s' if count > 1 else ''} left out. {name}: {reason}"


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


def what_if_title(method: str, positives: int, size: int, r: int) -> str:
    """A what-if in the legend of its figure."""
    return f"{method}, {positives} of {size} patches, r = {r}"


def what_if_said(title: str, accuracies: Sequence[float], epochs: int, auroc: float | None) -> str:
    """How a what-if stands, in a sentence."""
    if not accuracies:
        return f"**{title}**: training begins."
    now = f"**{title}**: {accuracies[-1]:.0%} of the held-out bags are right after epoch {len(accuracies)} of {epochs}."
    return now if auroc is None else f"{now} Attention finds the patches of the class with an AUROC of {auroc:.2f}."
