"""The words around the controls and figures of the lesson; the explanations are in assets/lessons."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from bag_generators import Generator
from ui.lesson.recorded import AmbiguityRun, AttentionRun, BeliefRun, WatchedBag

STEPS_HEADING = "Steps"
STEP_LABEL = "Step"
HIDE_LABEL = "Hidden parts"
CASE_HEADING = "Your picture"
TISSUE_LABEL = "Tissue"
VARIANT_LABEL = "Which drawing"
CUT_LABEL = "Cut into instances by"
TASK_LABEL = "Do this"
DONE_LABEL = "Done"
BACK_LABEL = "Back"
NEXT_LABEL = "Next"
ALL_DONE = "You have done every step. The Train page lets you try all of this on bags of your own."
LINK_LABEL = "Link for a class"
LINK_HELP = "Opens this step with the choices made here. What you tick is not shown to whoever follows the link."
HIDE_TITLES = {"steps": "Hide the steps", "text": "Hide the explanation", "task": "Hide the task"}

RECORDED = "Recorded run"

PICK_LABEL = "Click an instance in the picture, or choose its number"
HIDE_INSTANCES_LABEL = "Hide the instance labels"
MARK_LABEL = "Which instances carry the class? Click them, or choose their numbers"
CHECK_LABEL = "Check myself"
WHOLE_ALT = "The picture as a whole: a single instance."

R_LABEL = "False positive labels r"
DRAW_LABEL = "Draw them again"
HIDE_TRUE_LABEL = "Hide which candidate is true"
AS_MACHINE_LABEL = "See it as a learning machine does"
ADD_LABEL = "Keep this row and take another picture"
CLEAR_LABEL = "Start over"

SOURCE_LABEL = "Bags"
SOURCE_TITLES = {"digits": "Digits", "phantom": "Your picture"}
DIGIT_LABEL = "Bag with the hidden digit"
EPOCH_LABEL = "Epoch"

LOSS_LABEL = "Loss"
LOSS_TITLES = {"mapping": "Mapping", "sparsity": "Sparsity", "inhibition": "Inhibition", "total": "Sum"}
SPARSITY_LABEL = "Sparsity as"
SPARSITY_TITLES = {"l1": "ℓ1, as in the paper", "entropy": "entropy"}
LOSS_FORMULAS = {
    "mapping": "$\\mathcal{L}_{ma} = -\\sum_{c \\in S} w_c \\log p_c$, here with an even belief w",
    "sparsity": "$\\mathcal{L}_{sp} = \\sum_{c \\in S} p_c$ (ℓ1), or the entropy of p among the candidates",
    "inhibition": "$\\mathcal{L}_{in} = -\\sum_{c \\notin S} \\log (1 - p_c)$",
    "total": "$\\mathcal{L} = \\mathcal{L}_{ma} + \\mu \\mathcal{L}_{sp} + \\gamma \\mathcal{L}_{in}$",
}
MU_LABEL = "μ, weight of the sparsity loss"
GAMMA_LABEL = "γ, weight of the inhibition loss"
START_LABEL = "The model stands"
START_TITLES = {
    "undecided": "undecided",
    "false": "convinced of a false positive",
    "outside": "convinced of a non-candidate",
    "right": "convinced of the true label",
}
STEPS_LABEL = "Take {count} steps downhill"
RESET_LABEL = "Back to the start"

DESCENT_START_LABEL = "The candidates begin"
DESCENT_STARTS = {"ahead": "one well ahead", "close": "two nearly level", "equal": "all level"}
INHIBIT_LABEL = "Let inhibition help"
DESCENT_LABEL = "Steps of gradient descent"
DESCENT_TITLES = {"l1": "**ℓ1**: the sum of the candidates", "entropy": "**Entropy** of the candidates"}
DESCENT_LESSON = (
    "The sum of the candidates is one minus the rest, so its slope is the same for every candidate: it can't prefer "
    "one. All it can do is push mass **out** of the candidate set, against the inhibition loss. Entropy makes the "
    "leader win and leaves the others nothing, which is what ℓ0 asks for; only where all are exactly level does it "
    "have no direction either."
)

BAG_LABEL = "Training bag"
GUESS_LABEL = "Your guess: ELIMIPL's accuracy with three false positives"
SHOW_LABEL = "Show what happened"


def true_label(name: str, description: str) -> str:
    return f"True label: **{name}**. {description}"


def truth_legend(positive: int, count: int) -> str:
    return f":red[■] {positive} of {count} instances carry the class, :blue[■] the others are background."


def picked(instance: int, positive: bool) -> str:
    return f"Instance {instance} **{'carries the class' if positive else 'is background'}**."


def marks_checked(found: int, wrong: int, there: int) -> str:
    missed = there - found
    return (
        f"You found **{found} of {there}** instances that carry the class, missed {missed}, and marked {wrong} that "
        "show background."
    )


def candidate_set(candidates: np.ndarray, names: Sequence[str]) -> str:
    inside = ", ".join(name for name, member in zip(names, candidates, strict=True) if member)
    outside = ", ".join(name for name, member in zip(names, candidates, strict=True) if not member)
    return f"Candidate set S = {{{inside}}}. Certainly none of: {outside}."


def row_name(row: int, rows: int) -> str:
    return "this picture" if row == rows - 1 else f"picture {row + 1}"


def sparse_caption(rows_count: int, classes: int) -> str:
    return (
        f"{rows_count} × {classes} = {rows_count * classes} cells. $Y_T$ fills {rows_count} of them, one a row: "
        f"{1 / classes:.0%}."
    )


def attention_caption(run: AttentionRun, bag: WatchedBag, stage: int) -> str:
    attention, truth = np.array(bag.attention[stage]), np.array(bag.truth, dtype=bool)
    chances = np.array(bag.probabilities[stage])
    return (
        f"The {truth.sum()} of {len(truth)} instances that carry the class hold {attention[truth].sum():.0%} of the "
        f"attention (even share: {truth.mean():.0%}). The model says {run.labels[int(chances.argmax())]} with "
        f"{chances.max():.0%}; the label is {run.labels[bag.true]}. Held-out accuracy at this epoch: "
        f"{run.held_out_accuracy[stage]:.0%}. {RECORDED}: {run.about}"
    )


def loss_values(values: Mapping[str, float], mu: float, gamma: float) -> str:
    return (
        f"L = {values['mapping']:.2f} + {mu:.1f} × {values['sparsity']:.2f} + {gamma:.1f} × {values['inhibition']:.2f} "
        f"= **{values['total']:.2f}**"
    )


def descent_result(p: np.ndarray, candidates: np.ndarray) -> str:
    inside = p[candidates]
    share = inside.max() / inside.sum()
    return f"Mass on the candidates **{inside.sum():.0%}**; the strongest holds **{share:.0%}** of it."


def bag_name(name: str) -> str:
    digit, _, number = name.partition(" ")
    return f"a {digit} (bag {number})"


def weights_caption(run: BeliefRun, epoch: int) -> str:
    sentence = "Before training every candidate has an even share."
    if epoch:
        sentence = (
            f"ρ = {run.rho[epoch - 1]:.2f}: so much of the old belief was kept in this epoch. Of all training bags "
            f"{run.disambiguation_accuracy[epoch - 1]:.0%} now believe most in their true label."
        )
    return f"{sentence} {RECORDED}: {run.about}"


def guess_checked(guess: float, run: AmbiguityRun) -> str:
    means = {name: float(np.mean(values[-1])) for name, values in run.accuracy.items()}
    shares = "; ".join(f"{name} **{value:.0%}**" for name, value in means.items())
    return f"With {run.r[-1]} false positives: {shares}. You guessed {guess:.0%} for ELIMIPL."


def picture_alt(label: str, truth: np.ndarray) -> str:
    return f"A drawn {label} tile; instances {', '.join(map(str, np.flatnonzero(truth)))} carry the class."


def bag_alt(label: str, count: int, hidden: bool) -> str:
    return f"A drawn {label} tile cut into {count} instances, {'not marked' if hidden else 'marked by their truth'}."


def strip_alt(candidates: np.ndarray, names: Sequence[str], true: str | None) -> str:
    inside = ", ".join(name for name, member in zip(names, candidates, strict=True) if member)
    return f"Candidate labels: {inside}. " + (f"The true one is {true}." if true else "The true one is hidden.")


def matrices_alt(rows: int, as_machine: bool) -> str:
    return f"Label matrices of {rows} bags: Y = {'S + S̄' if as_machine else 'Y_F + Y_T + S̄'}."


def attention_alt(attention: np.ndarray, truth: np.ndarray) -> str:
    return (
        f"Attention of {len(truth)} instances; instances {', '.join(map(str, np.flatnonzero(truth)))} carry the class "
        f"and hold {attention[truth].sum():.0%}."
    )


def arrows_alt(names: Sequence[str], before: np.ndarray, after: np.ndarray) -> str:
    moves = (f"{name} {b:.0%} to {a:.0%}" for name, b, a in zip(names, before, after, strict=True))
    return f"Probabilities before and after a step: {', '.join(moves)}."


def descent_alt(sparsity: str, p: np.ndarray, candidates: np.ndarray) -> str:
    return f"Under {sparsity}: the candidates hold {p[candidates].sum():.0%}, the strongest {p[candidates].max():.0%}."


def beliefs_alt(names: Sequence[str], weights: np.ndarray, candidates: np.ndarray, epoch: int) -> str:
    shares = ", ".join(f"{names[index]} {weights[index]:.0%}" for index in np.flatnonzero(candidates).tolist())
    return f"Belief after epoch {epoch}: {shares}."


def accuracy_alt(run: AmbiguityRun, shown: bool) -> str:
    if not shown:
        return "Accuracy without false positives; the rest is still hidden."
    means = (f"{name} {np.mean(values[-1]):.0%}" for name, values in run.accuracy.items())
    return f"Accuracy over false positives; with {run.r[-1]}: {', '.join(means)}."


def cut_help(generators: Iterable[Generator]) -> str:
    """What the generators do, one line each."""
    return "\n".join(f"- **{generator.title}**: {generator.summary}" for generator in generators)


def not_recorded(title: str) -> str:
    """Said where the attention on bags of a generator was not recorded."""
    return f"No training on bags of {title} was recorded; choose another way to cut the picture to follow it here."
