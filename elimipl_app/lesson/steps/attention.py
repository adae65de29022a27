"""When attention finds the instances, epoch by epoch, and equations 2 to 4 with the numbers of one bag."""

from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np
import streamlit as st

from bag_generators import GENERATORS
from elimipl_app.charts.tissue import display_copy
from elimipl_app.lesson import kept, texts
from elimipl_app.lesson.case import REAL, Case, make_case
from elimipl_app.lesson.figures import contrast_figure, digit_row
from elimipl_app.lesson.kept import collected, count_collected
from elimipl_app.lesson.progress import is_revealed
from elimipl_app.lesson.recorded import Recording, attention_runs
from elimipl_app.shell import charts, moving
from elimipl_app.shell.palette import Palette, current_palette

TISSUE, DIGITS = "tissue", "digits"
MODELS = ("plain", "composed")


def show_attention(case: Case) -> dict[str, Any]:
    runs = attention_runs()
    with st.container(horizontal=True, vertical_alignment="bottom", gap="large"):
        source = kept.show_choice("bags", "Bags", (TISSUE, DIGITS), TISSUE, texts.SOURCE_TITLES.__getitem__)
        run = runs.watched[source]
        chosen = case.place if source == TISSUE else _choose_digit(run)
    palette = current_palette()
    slider = moving.Slider("epoch_attention", texts.EPOCH_LABEL, run.epochs, plays=True)
    revealed = is_revealed("attention")
    panels = attention_panels(run, chosen, slider.key, palette, revealed)
    mapped = make_case(REAL, case.number)
    if source == TISSUE:
        panels += _maps(run, chosen, slider.key, mapped, palette)
    carrying = ", ".join(str(i) for i, own in enumerate(run.bags[chosen].truth) if own)
    attention_alt = (
        f"Attention of {len(run.bags[chosen].truth)} instances by two models; instances {carrying} carry the class."
    )
    stands = moving.show("lesson-attention", (slider,), panels, attention_alt)
    if source == DIGITS:
        bag = run.bags[chosen]
        truth = np.array(bag.truth, dtype=bool)
        charts.show(
            digit_row(np.array(bag.pixels), truth, palette),
            "lesson-digits",
            "The pictures of the bag; those of the hidden digit are framed red.",
        )
    if stands[slider.key] == run.epochs[-1]:
        collected("attention", source)
    if revealed:
        _show_contrast(runs, palette)
    if source == TISSUE and not mapped.shows_real:
        st.caption("The attention is that on real patches; in the maps drawings stand in for their pixels.")
    st.caption(f"{texts.RECORDED}: {runs.about if source == TISSUE else runs.about_digits} The bag shown is of seed 0.")
    return {"followed": count_collected("attention")}


def contrasts(runs: Recording) -> Mapping[str, Recording]:
    """All contrasts by what a person calls the cut; those of tissue first."""
    return {
        texts.CUT_TITLES.get(cut, GENERATORS[cut].title): found for cut, found in runs.cuts.items() if cut in GENERATORS
    } | {"Digits": runs.digits}


def attention_panels(
    run: Recording, chosen: int, key: str, palette: Palette, revealed: bool = True
) -> list[moving.Panel]:
    """Attention of the two models side by side with the even share, and a sentence on each.

    What all held-out bags say stays hidden until the learner has predicted it.
    """
    bag = run.bags[chosen]
    truth = np.array(bag.truth, dtype=bool)
    colours = [palette.positive if own else palette.negative for own in truth]
    highest = max(max(stage[chosen]) for model in run.models.values() for stage in model.attention)
    columns: list[moving.Panel] = []
    words: list[moving.Panel] = []
    for name in MODELS:
        model = run.models[name]
        columns.append(
            moving.Columns(
                (key,),
                colours,
                [stage[chosen] for stage in model.attention],
                highest,
                line=1 / len(truth),
                title=texts.MODEL_TITLES[name],
                height=190,
                legend=[(texts.CARRIES, palette.positive), (texts.CARRIES_NOT, palette.negative)],
            )
        )
        lines = [texts.attention_words(run, name, chosen, stage, revealed) for stage in range(len(run.epochs))]
        words.append(moving.Words((key,), lines, weight=1.0))
    return columns + words


def _maps(run: Recording, chosen: int, key: str, case: Case, palette: Palette) -> list[moving.Panel]:
    """The same as maps over the picture."""
    rings = [[polygon.tolist() for polygon in case.bag.regions.outline(i)] for i in range(len(case.bag))]
    frames = [palette.positive if own else palette.negative for own in case.truth]
    source = display_copy(case.image)
    highest = max(max(stage[chosen]) for model in run.models.values() for stage in model.attention)
    return [
        moving.PicturePanel(
            (key,), source, case.image.width, case.image.height, rings,
            [stage[chosen] for stage in run.models[name].attention], highest, frames, texts.MAP_TITLES[name], 1.0,
        )
        for name in MODELS
    ]  # fmt: skip


def _choose_digit(run: Recording) -> int:
    labels = [run.labels[bag.true] for bag in run.bags]
    return labels.index(kept.show_choice("digit", "Bag with the hidden digit", labels, labels[0], shape="pills"))


def _show_contrast(runs: Recording, palette: Palette) -> None:
    rows = contrasts(runs)
    st.markdown(texts.CONTRAST_HEADING)
    charts.show(contrast_figure(rows, texts.MODEL_TITLES_PLAIN, palette), "lesson-contrast", texts.contrast_alt(rows))
    st.markdown(texts.contrast_lesson(rows))


TEMPERATURES = (0.1, 0.2, 0.35, 0.5, 0.7, 1.0, 1.5, 2.0, 3.5, 5.0, 10.0)
KINDS = ("sigmoid", "softmax", "scaled")


def show_scores(case: Case) -> dict[str, Any]:
    runs = attention_runs()
    method = kept.show_choice(
        "scores_of", "Scores learned by", tuple(runs.anatomy), "elimipl", texts.SCORES_TITLES.__getitem__
    )
    inside = runs.anatomy[method]
    xi = np.array(inside.xi[case.place])
    truth = np.array(runs.watched["tissue"].bags[case.place].truth, dtype=bool)
    palette = current_palette()
    colours = [palette.positive if own else palette.negative for own in truth]
    heat = moving.Slider("temperature", "Temperature: all scores are divided by it", TEMPERATURES, 1.0, plays=True)
    instance = moving.Slider("instance", "Instance", range(len(xi)), int(truth.argmax()))
    shares = {kind: [share_out(xi / t, kind, inside.l) for t in TEMPERATURES] for kind in KINDS}
    highest = min(1.0, 1.05 * max(float(np.max(shares["softmax"][TEMPERATURES.index(1.0)])), 3 / len(xi)))
    places = list(product(range(len(TEMPERATURES)), range(len(xi))))
    panels: list[moving.Panel] = [
        moving.Columns(
            (heat.key,), colours, shares[kind], highest, texts.SHARE_TITLES[kind],
            line=1 / len(xi), chosen_by=instance.key, height=180,
        )
        for kind in KINDS
    ]  # fmt: skip
    panels.append(moving.Words((instance.key,), [score_in_words(inside, case.place, j) for j in range(len(xi))]))
    panels.append(
        moving.Words(
            (heat.key, instance.key),
            [texts.share_in_words(xi, {kind: shares[kind][t] for kind in KINDS}, TEMPERATURES[t], inside.l, j)
             for t, j in places],
        )
    )  # fmt: skip
    panels.append(
        moving.Words(
            (heat.key,),
            [texts.spread_in_words({kind: shares[kind][t] for kind in KINDS}, truth) for t in range(len(TEMPERATURES))],
        )
    )
    h = np.array(inside.h[case.place])
    z = [shares["scaled"][t] @ h for t in range(len(TEMPERATURES))]
    panels.append(
        moving.Columns(
            (heat.key,), [palette.non_candidate] * inside.l, z, float(h.max(axis=0).mean()) or 1.0,
            "**The bag** z = Σ a h (eq. 4), with the scaled softmax", "number of z", height=130,
        )
    )  # fmt: skip
    scores_alt = f"Attention of {len(xi)} instances from the same scores: sigmoid, softmax, scaled softmax."
    stands = moving.show("lesson-scores", (heat, instance), panels, scores_alt)
    if stands[heat.key] != 1.0:
        collected("heat", "low" if stands[heat.key] < 1 else "high")
    st.caption(f"{texts.RECORDED}: {runs.about} {texts.SCORES_SEED[method]}")
    return {"temperatures": count_collected("heat"), "instance_moved": stands[instance.key] != instance.first}


def share_out(xi: np.ndarray, kind: str, width: int) -> np.ndarray:
    """Attention (n,) from scores (n,): DEMIPL's normalised sigmoid, the plain softmax, or eq. 3 with its √l."""
    if kind == "sigmoid":
        raised = 1 / (1 + np.exp(-xi))
    else:
        scaled = xi / np.sqrt(width) if kind == "scaled" else xi
        raised = np.exp(scaled - scaled.max())
    return raised / raised.sum()


def score_in_words(inside: Recording, bag: int, j: int) -> str:
    """Eq. 2 of one instance, term by term."""
    terms = zip(inside.w, inside.tanh[bag][j], inside.sigmoid[bag][j], strict=True)
    return texts.score_in_words(j, list(terms), inside.xi[bag][j])
