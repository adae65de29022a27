"""What the Compare page says with numbers in it."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from elimipl.training.figure_two import CLOSE, NOTICEABLE, WIDER, FigureTwo
from elimipl.training.trajectories import About, Trajectories

SPARSITIES = {"l1": "ℓ1", "entropy": "entropy", "none": "no"}
KINDS = {"training": "Training bags", "held_out": "Held-out bags", "elsewhere": "Bags of other patients"}
STATEMENT_TITLES = (
    "(a) the true label rises", "(b) non-candidates fall", "(c) the averages separate", "the first method's are close",
    "all of it",
)  # fmt: skip
VERDICT_HELP = (
    "The text beside the paper's Figure 2 says: with DEMIPL the averages of candidates and non-candidates are close; "
    "with ELIMIPL (a) the true label rises, (b) the non-candidates fall, (c) the averages separate. A bag counts "
    f"where a probability changes by more than {100 * NOTICEABLE:.0f} point, and a gap by more than {WIDER:.0%} of the "
    f"widest that the head allows; averages are close below {CLOSE:.0%} of it. The figure holds while every statement "
    "is true of most bags, in the median training. The paper shows one sample of CRC-MIPL-Row and prints none of its "
    "values."
)


def about(recorded: About) -> str:
    """What was trained on what."""
    names = ("training bags", "held-out bags", f"bags of {recorded.elsewhere}")
    counts = [f"{count:,} {name}" for count, name in zip(recorded.measured.values(), names, strict=False)]
    return (
        f"{recorded.title}: each method was trained {recorded.trainings} times, with a split, a simulated crowd "
        f"(the paper's rule) and a seed of its own; {', '.join(counts)}, all measured after every epoch."
    )


def settings_line(config: Mapping[str, Any]) -> str:
    """The settings of one run, as short as they can be named."""
    losses = "no sparsity, no inhibition"
    if config["mu"] or config["gamma"]:
        losses = f"{SPARSITIES[config['sparsity']]} sparsity, μ = {config['mu']:g}, γ = {config['gamma']:g}"
    return (
        f"Preset “{config['preset_name']}”: {losses}, l = {config['hidden']}, T = {config['epochs']}, learning rate "
        f"{config['lr']:g}, {config['batch']} bag{'s' if config['batch'] > 1 else ''} per step, "
        f"dropout {config['dropout']:g}."
    )


def four_alt(method: str, values: np.ndarray) -> str:
    """Screen reader text of curves and bars: (4,) values."""
    true, candidate, wrong, other = values
    return (
        f"{method}: true label {true:.0%}, average candidate {candidate:.0%}, average false candidate {wrong:.0%}, "
        f"average non-candidate {other:.0%}."
    )


def accuracy_table(recorded: Trajectories, epoch: int) -> str:
    """A Markdown table of the shares of bags after an epoch, means over the trainings."""
    kinds = [KINDS[kind] for kind in recorded.about.measured]
    rows = [f"| Method | {' | '.join([*kinds, 'Found'])} |", f"|:--|{'--:|' * (len(kinds) + 1)}"]
    for name, shares in zip(recorded.about.methods, recorded.accuracies[:, :, epoch], strict=True):
        rows.append(f"| {name} | {' | '.join(f'{share:.0%}' for share in shares.mean(axis=0, dtype=float))} |")
    return "\n".join(rows)


def live_state(state: str, method: str, epoch: int, epochs: int) -> str:
    """How the live training stands."""
    if state in ("waiting", "running"):
        return f"{method} · epoch {epoch} of {epochs}"
    return f"{method}: done." if state == "done" else f"{method}: stopped after epoch {epoch}."


def verdict(found: FigureTwo, bags: str) -> str:
    """Whether and when Figure 2 holds, in a sentence."""
    epochs = found.shares.shape[1] - 1
    at_end = f"after epoch {epochs} on {100 * found.at_the_end:.0f} %"
    if found.window is None:
        best, share = found.at_best
        most = f"all it says is true of at most {100 * share:.0f} % of the {bags} (epoch {best})"
        return f"Figure 2 holds at no time: {most}; {at_end}."
    start, end = found.window
    inside = found.median[start : end + 1, 4]
    low, high = (f"{100 * share:.0f}" for share in (inside.min(), inside.max()))
    on = f"{low} %" if low == high else f"{low} to {high} %"
    still = "" if end == epochs else f"; {at_end}"
    most = f"each statement is true of most {bags}, all of it of {on}"
    return f"Figure 2 holds from epoch {start} to {end}: {most}{still}."


def narrow_head(classes: int) -> str:
    """Why the authors' head keeps all averages near each other."""
    low, high = 1 / (1 + (classes - 1) * math.e), math.e / (math.e + classes - 1)
    return (
        f"The authors' head is a softmax of a sigmoid: with {classes} classes every probability lies between {low:.1%} "
        f"and {high:.1%}, for both methods. And ℓ1 pulls probability out of the candidates, against the inhibition."
    )


def medians_table(recorded: Trajectories, left: str, right: str, kind: str, epoch: int) -> str:
    """A Markdown table: the medians of two methods beside what the paper says."""
    place = list(recorded.about.measured).index(kind)
    rows = [f"| Medians after epoch {epoch} | Paper, Figure 2 | {left} | {right} |", "|:--|:--|--:|--:|"]
    three = recorded.medians[[recorded.method(left), recorded.method(right)], place, epoch].astype(float)
    said = ("rises", "–", "falls")
    names = ("true label", "average of the candidates", "average of the non-candidates")
    for name, words, (before, after) in zip(names, said, three.T, strict=True):
        rows.append(f"| {name} | {words} | {before:.1%} | {after:.1%} |")
    return "\n".join(rows)
