"""Sentences with the numbers of a figure; those of moving figures are made for every position."""

from collections.abc import Mapping, Sequence

import numpy as np

from ui.lesson.recorded import BeliefRun, BelievedBag, Contrast, WatchedRun
from ui.lesson.texts import RECORDED


def attention_words(run: WatchedRun, name: str, bag: int, stage: int, revealed: bool) -> str:
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


def contrast_lesson(rows: Mapping[str, Contrast]) -> str:
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


def weights_caption(run: BeliefRun, bag: BelievedBag, epoch: int) -> str:
    sentence = "Before training every candidate has an even share."
    if epoch:
        sentence = (
            f"ρ = {run.rho[epoch - 1]:.2f}: so much of the old belief was kept in this epoch. Of all training bags "
            f"{run.disambiguation_accuracy[epoch - 1]:.0%} now believe most in their true label."
        )
    if epoch == len(bag.weights) - 1 and bag.ends_wrong:
        sentence += (
            f" **This bag ends wrong: it believes most in {run.labels[bag.believed]}, its true label is "
            f"{run.labels[bag.true]}.**"
        )
    return f"{sentence} {RECORDED}: {run.about}"


def named_set(candidates: np.ndarray, names: Sequence[str]) -> str:
    """What a learner finds possible of a picture whose label nobody knows, and what not."""
    inside = ", ".join(name for name, member in zip(names, candidates, strict=True) if member)
    outside = ", ".join(name for name, member in zip(names, candidates, strict=True) if not member)
    return f"Your candidate set S = {{{inside}}}. You rule out {outside or 'nothing'}."


def section_caption(credit: str) -> str:
    """What a re-stained picture is, and whose."""
    return f"The picture: real colon tissue in computed H&E colours. {credit}"
