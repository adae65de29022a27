"""Every text of the Compare page."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from elimipl.candidates.crowd import Candidates
from elimipl.training.figure_two import CLOSE, NOTICEABLE, FigureTwo
from elimipl.training.trajectories import About

INTRO = (
    "Two methods, the same bag, the same candidate labels. A good one lifts the **true label** away from the other "
    "candidates and presses the **non-candidates** down: nobody told it which candidate is true, but everybody agrees "
    "on what the bag is not."
)
DATA_HEADING = "Recorded on"
BAG_HEADING = "Bag"
ATTENTION_AXIS = "attention"
BAGS_HELP = (
    "The first two bags of every class whose candidate set holds a false label, each of another picture. The thin bar "
    "is the left method, the thick one the right."
)
BAG_RULE = (
    "It opens with the median bag: the one whose true label gains as much from DEMIPL to ELIMIPL as in the median of "
    "all training bags."
)
SPARSITIES = {"l1": "ℓ1", "entropy": "entropy", "none": "no"}
VERDICT_TITLES = {
    True: "This recording shows Figure 2's point",
    False: "This recording does not show Figure 2's point",
}
VERDICT_HELP = (
    f"Over all training bags after the last epoch. A bag counts where the probability differs by more than "
    f"{NOTICEABLE:.0%}; a statement holds where most bags count. Averages are close while their gap is less than "
    f"{CLOSE:.0%} of the widest that the head allows."
)
PAPER_VALUES = (
    "The paper's text says what its Figure 2 shows, on one sample of CRC-MIPL-Row, but prints none of its values; they "
    "are only in its picture. So the paper's column holds words and no numbers."
)
SAME_STATEMENT = (
    "(b) and (c) are one statement: probabilities sum to one, so what the non-candidates lose the candidates gain, "
    "whichever candidate that is. Whether the *true* one was found shows in the average without it."
)
ROWS = ("true label", "average of the candidates", "average of the candidates without the true label",
        "average of the non-candidates", "gap between candidates and non-candidates")  # fmt: skip
SAID_BY_THE_PAPER = ("rises", "–", "–", "falls", "small with DEMIPL, wide with ELIMIPL")
OVERVIEW_COLUMNS = ("Recording", "Sparsity, μ, γ, l", "True label", "Without it", "Non-candidates", "Shown?")
ALL_HELP = (
    "MA: mapping loss with moving weights. SP: sparsity. IN: inhibition of the non-candidates. CE: cross-entropy with "
    "equal weights for all candidates."
)
LIVE_ABOUT = (
    "The same bags, candidate sets and settings; another seed gives another start and another order of the bags."
)
NO_RECORDINGS = "There are no recordings. Restore assets/trajectories or run scripts/record_trajectories.py."
TABLE_COLUMNS = ("Method", "Training", "Held out", "Found")
TABLE_HELP = "Shares of bags: classified rightly, and with the true label as the heaviest candidate (found)."


def about(recorded: About) -> str:
    """What was trained on what."""
    sets = Candidates(recorded.candidates, recorded.r, recorded.candidate_seed).scheme
    return (
        f"{recorded.title}: bag set “{recorded.bags}”, {recorded.training_bags} training and {recorded.held_out_bags} "
        f"held-out bags; candidate sets: {sets} (seed {recorded.candidate_seed})."
    )


def settings_line(config: Mapping[str, Any]) -> str:
    """The settings of one run, as short as they can be named."""
    losses = "no sparsity, no inhibition"
    if config["mu"] or config["gamma"]:
        losses = f"{SPARSITIES[config['sparsity']]} sparsity, μ = {config['mu']:g}, γ = {config['gamma']:g}"
    return (
        f"Preset “{config['preset_name']}”: {losses}, l = {config['hidden']}, T = {config['epochs']}, learning rate "
        f"{config['lr']:g}, {config['batch']} bag{'s' if config['batch'] > 1 else ''} a step, "
        f"dropout {config['dropout']:g}, seed {config['seed']}."
    )


def bag_title(number: int, label: str) -> str:
    """A bag in the list of bags."""
    return f"{number + 1} · {label}"


def four_alt(method: str, values: np.ndarray) -> str:
    """Screen reader text of curves and bars: (4,) values."""
    true, candidate, wrong, other = values
    return (
        f"{method}: true label {true:.0%}, average candidate {candidate:.0%}, average false candidate {wrong:.0%}, "
        f"average non-candidate {other:.0%}."
    )


def accuracy_table(methods: tuple[str, ...], accuracies: np.ndarray) -> str:
    """A Markdown table of (M, 3) shares."""
    rows = [f"| {' | '.join(TABLE_COLUMNS)} |", "|:--|--:|--:|--:|"]
    for name, shares in zip(methods, accuracies, strict=True):
        rows.append(f"| {name} | {' | '.join(f'{share:.0%}' for share in shares)} |")
    return "\n".join(rows)


def live_state(state: str, method: str, epoch: int, epochs: int) -> str:
    """How the live training stands."""
    if state in ("waiting", "running"):
        return f"{method} · epoch {epoch} of {epochs}"
    return f"{method}: done." if state == "done" else f"{method}: stopped after epoch {epoch}."


def statements(found: FigureTwo, left: str, right: str) -> list[tuple[bool, str]]:
    """Whether each of the figure's statements holds, and the statement with its numbers."""
    before, after = found.medians
    points = found.gaps * 100
    return [
        (
            found.close,
            f"With {left} the candidates' and the non-candidates' averages are close: medians {before[1]:.1%} and "
            f"{before[3]:.1%}, a gap of {points[0]:.1f} points, where {100 * found.widest:.0f} is the widest that "
            "its head allows.",
        ),
        (
            found.rises > 0.5,
            f"(a) With {right} the true label is more probable: in {found.rises:.0%} of the bags; median "
            f"{before[0]:.1%} → {after[0]:.1%}.",
        ),
        (
            found.falls > 0.5,
            f"(b) The non-candidates are less probable, and (c) the averages further apart: in {found.falls:.0%} of "
            f"the bags; medians {before[3]:.1%} → {after[3]:.1%}, gap {points[0]:.1f} → {points[1]:.1f} points.",
        ),
    ]


def narrow_head(classes: int) -> str:
    """Why the authors' head keeps all averages near each other."""
    low, high = 1 / (1 + (classes - 1) * math.e), math.e / (math.e + classes - 1)
    return (
        f"The authors' head is a softmax of a sigmoid: with {classes} classes every probability lies between {low:.1%} "
        f"and {high:.1%}, for both methods. And ℓ1 pulls probability out of the candidates, against the inhibition."
    )


def medians_table(found: FigureTwo, left: str, right: str) -> str:
    """A Markdown table: the medians of two methods beside what the paper says."""
    rows = [f"| Medians of {found.bags} bags | Paper, Figure 2 | {left} | {right} |", "|:--|:--|--:|--:|"]
    values = np.column_stack([found.medians, found.gaps])
    for name, said, before, after in zip(ROWS, SAID_BY_THE_PAPER, *values, strict=True):
        rows.append(f"| {name} | {said} | {before:.1%} | {after:.1%} |")
    return "\n".join(rows)


def overview_table(rows: Sequence[tuple[About, FigureTwo]], right: str) -> str:
    """A Markdown table of medians, one row a recording."""
    lines = [f"| {' | '.join(OVERVIEW_COLUMNS)} |", "|:--|:--|--:|--:|--:|:--|"]
    for recorded, found in rows:
        config = recorded.configs[right]
        used = f"{SPARSITIES[config['sparsity']]}, {config['mu']:g}, {config['gamma']:g}, {config['hidden']}"
        changes = (f"{before:.1%} → {after:.1%}" for before, after in found.medians.T[[0, 2, 3]])
        lines.append(f"| {recorded.title} | {used} | {' | '.join(changes)} | {'yes' if found.shown else 'no'} |")
    return "\n".join(lines)
