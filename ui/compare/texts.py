"""Every text of the Compare page."""

import numpy as np

INTRO = (
    "Two methods, the same bag, the same candidate labels. A good one lifts the **true label** away from the other "
    "candidates and presses the **non-candidates** down: nobody told it which candidate is true, but everybody agrees "
    "on what the bag is not."
)
DATA_HEADING = "Recorded on"
BAG_HEADING = "Bag"
METHODS_HEADING = "Methods"
LEFT_LABEL = "Left"
RIGHT_LABEL = "Right"
EPOCH_LABEL = "After epoch (0 is the untrained model)"
CURVES_HEADING = "Probabilities over the training"
BARS_HEADING = "Probabilities after this epoch"
ATTENTION_HEADING = "Attention after this epoch"
ATTENTION_AXIS = "attention"
ALL_HEADING = "All methods on this bag"
ALL_HELP = (
    "MA: mapping loss with moving weights. SP: sparsity. IN: inhibition of the non-candidates. CE: cross-entropy with "
    "equal weights for all candidates."
)
TABLE_HEADING = "All bags after this epoch"
LIVE_HEADING = "Train it here"
LIVE_ABOUT = (
    "The same bags, candidate sets and settings; another seed gives another start and another order of the bags."
)
LIVE_METHOD_LABEL = "Method"
LIVE_SEED_LABEL = "Seed"
LIVE_START_LABEL = "Train it here"
LIVE_STOP_LABEL = "Stop training"
NO_RECORDINGS = "There are no recordings. Restore assets/trajectories or run scripts/record_trajectories.py."
TABLE_COLUMNS = ("Method", "Training", "Held out", "Found")
TABLE_HELP = "Shares of bags: classified rightly, and with the true label as the heaviest candidate (found)."


def about(title: str, training: int, held_out: int, r: int) -> str:
    """What was trained on what."""
    return (
        f"{title}: {training} training and {held_out} held-out bags; every candidate set is the true label and {r} "
        f"random other{'s' if r > 1 else ''}. All methods with the same small settings and seed."
    )


def bag_title(number: int, label: str) -> str:
    """A bag in the list of bags."""
    return f"{number + 1} · {label}"


def candidates_told(true_label: str, others: list[str]) -> str:
    """The candidate set of a bag."""
    return f"True label **{true_label}**; false candidates {', '.join(others)}."


def side_about(held_out: float) -> str:
    """What is shares under the name of a method."""
    return f"At the end of the training {held_out:.0%} of the held-out bags are classified rightly."


def three_alt(method: str, values: np.ndarray) -> str:
    """Screen reader text of curves and bars: (3,) values."""
    true, candidate, other = values
    return f"{method}: true label {true:.0%}, average candidate {candidate:.0%}, average non-candidate {other:.0%}."


def attention_alt(method: str, attention: np.ndarray) -> str:
    """Screen reader text of the attention."""
    return f"Attention of {method}: highest at instance {int(attention.argmax())} with {attention.max():.2f}."


def all_alt(methods: tuple[str, ...], three: np.ndarray) -> str:
    """Screen reader text of the bars of all methods: (M, 3) values."""
    shares = ", ".join(f"{name} {row[0]:.0%}" for name, row in zip(methods, three, strict=True))
    return f"Probability of the true label: {shares}."


def accuracy_table(methods: tuple[str, ...], accuracies: np.ndarray) -> str:
    """A Markdown table of (M, 3) shares."""
    rows = [f"| {' | '.join(TABLE_COLUMNS)} |", "|:--|--:|--:|--:|"]
    for name, shares in zip(methods, accuracies, strict=True):
        rows.append(f"| {name} | {' | '.join(f'{share:.0%}' for share in shares)} |")
    return "\n".join(rows)


def live_state(state: str, method: str, epoch: int, epochs: int) -> str:
    """How the live training stands."""
    if state == "running":
        return f"{method} · epoch {epoch} of {epochs}"
    return f"{method}: done." if state == "done" else f"{method}: stopped after epoch {epoch}."
