"""The words around the lesson's controls and figures; the explanations are in assets/lessons.

Sentences with the numbers of a moving figure are made for every position.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from elimipl_app.lesson.recorded import Recording, believed, ends_wrong

KIND_TITLES = {"real": "Real tissue", "drawn": "A drawing"}
DONE_LABEL = "Done"
LINK_HELP = (
    "**For a class**: opens this step with the choices made here, without navigation, controls or any answer of yours. "
    "What you tick is not shown either."
)
HIDE_TITLES = {
    "steps": "Hide the steps", "text": "Hide the explanation", "task": "Hide the task", "question": "Hide the question",
}  # fmt: skip
PREDICT_LABEL = "Predict"
REVEAL_LABEL = "Reveal"

RECORDED = "Recorded run"


R_LABEL = "False positive labels r"
CONDITION = {
    "real": "This bag meets the paper's condition: its other patches are fat and glass, so **no instance is of a "
    "false positive label**.",
    "drawn": "This drawing meets the paper's condition: around the class there is fat only, so **no instance is of a "
    "false positive label**.",
}
FIELD_LABEL, FIELD_OWN_BAG = "Picture", "Your bag"
UNKNOWN_TRUTH = (
    "Nobody has labelled this picture. Which candidate is true, if any, stays unknown, and so does whether it meets "
    "the paper's condition. A learning machine is given no more than this."
)

SOURCE_TITLES = {"tissue": "Tissue", "digits": "Digits, as in the paper's Figure 5"}
EPOCH_LABEL = "Epoch"
CARRIES, CARRIES_NOT = "carries the class", "does not"
MODEL_TITLES = {"plain": "Learned from **plain** bags", "composed": "Learned from **composed** bags"}
MODEL_TITLES_PLAIN = {name: title.replace("*", "") for name, title in MODEL_TITLES.items()}
MAP_TITLES = {"plain": "Its map (plain)", "composed": "Its map (composed)"}
CONTRAST_HEADING = (
    "**All held-out bags, every cut.** Dots: mean; thick lines: lowest to highest seed; thin lines: the middle 80 % of "
    "bags."
)

CUT_TITLES = {"deep": "Deep, cells of 28 µm"}
"""Where a cut is not what it is on other pages."""

SCORES_TITLES = {"elimipl": "ELIMIPL", "demipl": "DEMIPL"}
SCORES_SEED = {
    "elimipl": "These scores: composed bags of Deep's cells of 28 µm, seed 0.",
    "demipl": "These scores: composed bags of Deep's cells of 28 µm, seed 0, trained as DEMIPL (sigmoid attention, "
    "λ = 0.001, no sparsity or inhibition loss).",
}
SHARE_TITLES = {
    "sigmoid": "**DEMIPL**: sigm(ξ) / Σ sigm(ξ)",
    "softmax": "**Softmax without √l**: exp(ξ) / Σ exp(ξ)",
    "scaled": "**ELIMIPL** (eq. 3): exp(ξ/√l) / Σ exp(ξ/√l)",
}

LOSS_TITLES = {"mapping": "Mapping", "sparsity": "Sparsity", "inhibition": "Inhibition", "total": "Sum"}
SPARSITY_TITLES = {"l1": "ℓ1, as in the paper", "entropy": "entropy"}
LOSS_FORMULAS = {
    "mapping": "$\\mathcal{L}_{ma} = -\\sum_{c \\in S} w_c \\log p_c$, here with an even belief w",
    "sparsity": "$\\mathcal{L}_{sp} = \\sum_{c \\in S} p_c$ (ℓ1), or the entropy of p among the candidates",
    "inhibition": "$\\mathcal{L}_{in} = -\\sum_{c \\notin S} \\log (1 - p_c)$",
    "total": "$\\mathcal{L} = \\mathcal{L}_{ma} + \\mu \\mathcal{L}_{sp} + \\gamma \\mathcal{L}_{in}$",
}
START_TITLES = {
    "undecided": "undecided",
    "false": "convinced of a false positive",
    "outside": "convinced of a non-candidate",
    "right": "convinced of the true label",
}

DESCENT_STARTS = {"ahead": "one well ahead", "close": "two nearly level", "equal": "all level"}
DESCENT_LABEL = "Steps of gradient descent"
DESCENT_TITLES = {"l1": "**ℓ1**: the sum of the candidates", "entropy": "**Entropy** of the candidates"}
DESCENT_LESSON = (
    "The sum of the candidates is one minus the rest, so its slope by p is the same for every candidate: it can't "
    "prefer one. In the logits, where training moves, it even **levels** them: the slope is p(1 − mass of the "
    "candidates), so the larger one falls faster. All it can do is push mass **out** of the candidate set, against "
    "the inhibition loss. Entropy makes the leader win and leaves the others nothing, which is what ℓ0 asks for, but "
    "it crowns a wrong leader just as well; only where all are exactly level does it have no direction either."
)


def case_caption(kind: str, real: bool) -> str:
    if kind == "drawn":
        return "Drawn by this project: tissue of the class in fat. Drawings teach; they are not tissue."
    if real:
        return (
            "Real patches from the tiles on this machine, composed with fat and glass (CC BY 4.0, Kather et al. 2018). "
            "Even purple squares are glass: the data's stain normalisation coloured some empty tiles."
        )
    return (
        "Features of real patches (Kather et al. 2018, CC BY 4.0). Their pixels do not ship: **drawings stand in for "
        "them**. With the tiles on disk, set ELIMIPL_TILES to their folder to see the real ones."
    )


def picked(instance: int, positive: bool, share: float) -> str:
    said = "carries the class" if positive else "shows a part of the class" if share else "shows nothing of the class"
    return f"Instance {instance} **{said}**: {share:.0%} of it."


def marks_checked(found: int, partly: int, wrong: int, there: int) -> str:
    part = f", {partly} that show less than half of it" if partly else ""
    return (
        f"You found **{found} of {there}** instances that carry the class, missed {there - found}, and marked "
        f"{wrong} that show nothing of it{part}."
    )


def true_name(name: str, true: bool) -> str:
    return f"{name} (true)" if true else str(name)


def candidate_set(candidates: np.ndarray, names: Sequence[str], own: bool) -> str:
    """The labels that are possible and those that are not, to a crowd or to the learner."""
    inside = ", ".join(name for name, member in zip(names, candidates, strict=True) if member)
    outside = ", ".join(name for name, member in zip(names, candidates, strict=True) if not member)
    if own:
        return f"Your candidate set S = {{{inside}}}. You rule out {outside or 'nothing'}."
    return f"Candidate set S = {{{inside}}}. Certainly none of: {outside}."


def bag_name(name: str, ends_wrong: bool) -> str:
    digit, _, number = name.partition(" ")
    return f"a {digit} (bag {number}{', ends wrong' if ends_wrong else ''})"


def birdsong_title(fewest: int, most: int) -> str:
    splits = f"{fewest}" if fewest == most else f"{fewest} to {most}"
    return f"Birdsong (HJA, Briggs 2012; 13 classes), {splits} splits 7:3 a point: the paper's Figure 4 from our runs"


def guess_checked(guess: float, run: Recording) -> str:
    means = {name: float(np.mean(values[-1])) for name, values in run.accuracy.items()}
    shares = "; ".join(f"{name} **{value:.0%}**" for name, value in means.items())
    return f"With {run.r[-1]} false positives: {shares}. You guessed {guess:.0%} for ELIMIPL."


def picture_alt(label: str, truth: np.ndarray) -> str:
    return f"A bag of {label}; instances {', '.join(map(str, np.flatnonzero(truth)))} carry the class."


def bag_alt(label: str, count: int, hidden: bool) -> str:
    return f"A bag of {label} in {count} instances, {'not marked' if hidden else 'marked by their truth'}."


def strip_alt(candidates: np.ndarray, names: Sequence[str], true: str | None) -> str:
    inside = ", ".join(name for name, member in zip(names, candidates, strict=True) if member)
    return f"Candidate labels: {inside}. " + (f"The true one is {true}." if true else "The true one is hidden.")


def contrast_alt(rows: Mapping[str, Recording]) -> str:
    found = (
        f"{name} {np.mean(one.plain.auroc):.2f} and {np.mean(one.composed.auroc):.2f}" for name, one in rows.items()
    )
    return f"AUROC of the attention learned from plain and from composed bags: {'; '.join(found)}."


def accuracy_alt(run: Recording, shown: bool) -> str:
    if not shown:
        return "Accuracy without false positives; the rest is still hidden."
    means = (f"{name} {np.mean(values[-1]):.0%}" for name, values in run.accuracy.items())
    return f"Accuracy over false positives; with {run.r[-1]}: {', '.join(means)}."


def attention_words(run: Recording, name: str, bag: int, stage: int, revealed: bool) -> str:
    model, shown = run.models[name], run.bags[bag]
    attention, truth = np.array(model.attention[stage][bag]), np.array(shown.truth, dtype=bool)
    chances = np.array(model.probabilities[stage][bag])
    said = (
        f"The {truth.sum()} of {len(truth)} instances of the class hold **{attention[truth].sum():.0%}** of the "
        f"attention (even share: {truth.mean():.0%}). It says {run.labels[int(chances.argmax())]} with "
        f"{chances.max():.0%}; the label is {run.labels[shown.true]}."
    )
    if not revealed:
        return said
    return (
        f"{said} Over all held-out composed bags at this epoch: AUROC **{model.auroc[stage]:.2f}**, accuracy "
        f"{model.accuracy[stage]:.0%}."
    )


def contrast_lesson(rows: Mapping[str, Recording]) -> str:
    lines = [
        f"| {name} | {np.mean(one.plain.accuracy_whole):.2f} | {np.mean(one.plain.auroc):.2f} | "
        f"{np.mean(one.composed.accuracy_whole):.2f} | {np.mean(one.composed.accuracy):.2f} | "
        f"{np.mean(one.composed.auroc):.2f} | {one.bags} |"
        for name, one in rows.items()
    ]
    table = "\n".join(
        ("| cut | plain: accuracy on plain bags | plain: AUROC | composed: accuracy on plain bags | "
         "composed: accuracy on composed bags | composed: AUROC | held-out bags |",
         "|---|---|---|---|---|---|---|", *lines)
    )  # fmt: skip
    return (
        f"{table}\n\nTwo things must come together. **Bags in which it matters**: where every instance is of the "
        f"class, attention has nothing to learn, however accurate the model. **Features that can tell**: with simple "
        f"features composing helps little."
    )  # fmt: skip


def score_in_words(j: int, terms: Sequence[tuple[float, float, float]], xi: float) -> str:
    parts = " + ".join(f"{w:.2f}·{t:.2f}·{s:.2f}" for w, t, s in terms).replace("+ -", "− ").replace("-", "−")
    return f"Eq. 2, instance {j}: ξ = Σ W·tanh·sigm = {parts} = **{xi:.2f}**".replace("-", "−")


def share_in_words(xi: np.ndarray, shares: Mapping[str, np.ndarray], heat: float, width: int, j: int) -> str:
    scaled = np.exp(xi / heat / np.sqrt(width))
    heated = "" if heat == 1 else f" / {heat:g}"
    return (
        f"Eq. 3, instance {j}: exp({xi[j]:.2f}{heated} / √{width}) / Σ = {scaled[j]:.3g} / {scaled.sum():.3g} = "
        f"**{shares['scaled'][j]:.1%}**; without √l {shares['softmax'][j]:.1%}; DEMIPL {shares['sigmoid'][j]:.1%}; "
        f"even share {1 / len(xi):.1%}."
    )


def spread_in_words(shares: Mapping[str, np.ndarray], truth: np.ndarray) -> str:
    titles = {"sigmoid": "DEMIPL", "softmax": "softmax without √l", "scaled": "scaled softmax"}
    parts = (
        f"{titles[kind]}: instances of the class hold **{a[truth].sum():.0%}**, largest {a.max():.0%}, steepest slope "
        f"a(1−a) {np.max(a * (1 - a)):.2f}"
        for kind, a in shares.items()
    )
    return "; ".join(parts) + "."


def loss_values(values: np.ndarray, mu: float, gamma: float) -> str:
    total = values[0] + mu * values[1] + gamma * values[2]
    return f"L = {values[0]:.2f} + {mu:g} × {values[1]:.2f} + {gamma:g} × {values[2]:.2f} = **{total:.2f}**"


def descent_result(kind: str, p: np.ndarray, candidates: np.ndarray, names: Sequence[str], true: int) -> str:
    inside = p[candidates]
    leader = int(np.where(candidates, p, -1).argmax())
    share = inside.max() / inside.sum()
    title = {"l1": "ℓ1", "entropy": "Entropy"}[kind]
    said = (
        f"**{title}**: the candidates hold {inside.sum():.0%}; the strongest, {names[leader]}, has {share:.0%} of it."
    )
    if kind == "entropy" and leader != true and inside.max() > 0.5:
        said += f" **It crowns {names[leader]}, a false positive: the true label is {names[true]}.**"
    return said


def weights_caption(run: Recording, bag: Recording, epoch: int) -> str:
    sentence = "Before training every candidate has an even share."
    if epoch:
        sentence = (
            f"ρ = {run.rho[epoch - 1]:.2f}: so much of the old belief was kept in this epoch. Of all training bags "
            f"{run.disambiguation_accuracy[epoch - 1]:.0%} now believe most in their true label."
        )
    if epoch == len(bag.weights) - 1 and ends_wrong(bag):
        sentence += (
            f" **This bag ends wrong: it believes most in {run.labels[believed(bag)]}, its true label is "
            f"{run.labels[bag.true]}.**"
        )
    return f"{sentence} {RECORDED}: {run.about}"
