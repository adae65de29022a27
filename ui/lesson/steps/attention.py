"""When does attention find the instances? A model of plain bags beside a model of composed bags, epoch by epoch."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import streamlit as st

from bag_generators import GENERATORS
from ui.figures.tissue import display_copy
from ui.frame import charts, moving
from ui.frame.palette import Palette, current_palette
from ui.lesson import kept, sentences, texts
from ui.lesson.answers import is_revealed
from ui.lesson.case import REAL, Case, make_case
from ui.lesson.collected import collected, count_collected
from ui.lesson.figures.contrast import contrast_figure
from ui.lesson.figures.digits import digit_row
from ui.lesson.recorded import AttentionRuns, Contrast, WatchedRun, attention_runs

TISSUE, DIGITS = "tissue", "digits"
MODELS = ("plain", "composed")


def show(case: Case) -> dict[str, Any]:
    runs = attention_runs()
    with st.container(horizontal=True, vertical_alignment="bottom", gap="large"):
        source = kept.show_choice("bags", texts.SOURCE_LABEL, (TISSUE, DIGITS), TISSUE, texts.SOURCE_TITLES.__getitem__)
        run = runs.watched[source]
        chosen = case.place if source == TISSUE else _choose_digit(run)
    palette = current_palette()
    slider = moving.Slider("epoch_attention", texts.EPOCH_LABEL, run.epochs, plays=True)
    revealed = is_revealed("attention")
    panels = attention_panels(run, chosen, slider.key, palette, revealed)
    mapped = make_case(REAL, case.number)
    if source == TISSUE:
        panels += _maps(run, chosen, slider.key, mapped, palette)
    stands = moving.show("lesson-attention", (slider,), panels, texts.attention_alt(run.bags[chosen]))
    if source == DIGITS:
        bag = run.bags[chosen]
        truth = np.array(bag.truth, dtype=bool)
        charts.show(digit_row(np.array(bag.pixels), truth, palette), "lesson-digits", texts.DIGITS_ALT)
    if stands[slider.key] == run.epochs[-1]:
        collected("attention", source)
    if revealed:
        _show_contrast(runs, palette)
    if source == TISSUE and not mapped.shows_real:
        st.caption(texts.STAND_INS)
    st.caption(f"{texts.RECORDED}: {runs.about if source == TISSUE else runs.about_digits} {texts.SHOWN_SEED}")
    return {"followed": count_collected("attention")}


def contrasts(runs: AttentionRuns) -> Mapping[str, Contrast]:
    """All contrasts by what a person calls the cut; those of tissue first."""
    return {
        texts.CUT_TITLES.get(cut, GENERATORS[cut].title): found for cut, found in runs.cuts.items() if cut in GENERATORS
    } | {texts.DIGITS_ROW: runs.digits}


def attention_panels(
    run: WatchedRun, chosen: int, key: str, palette: Palette, revealed: bool = True
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
        lines = [sentences.attention_words(run, name, chosen, stage, revealed) for stage in range(len(run.epochs))]
        words.append(moving.Words((key,), lines, weight=1.0))
    return columns + words


def _maps(run: WatchedRun, chosen: int, key: str, case: Case, palette: Palette) -> list[moving.Panel]:
    """The same as maps over the picture."""
    rings = [[polygon.tolist() for polygon in case.bag.regions.outline(i)] for i in range(len(case.bag))]
    frames = [palette.positive if own else palette.negative for own in case.truth]
    source = display_copy(case.image)
    highest = max(max(stage[chosen]) for model in run.models.values() for stage in model.attention)
    return [
        moving.Picture(
            (key,), source, case.image.width, case.image.height, rings,
            [stage[chosen] for stage in run.models[name].attention], highest, frames, texts.MAP_TITLES[name], 1.0,
        )
        for name in MODELS
    ]  # fmt: skip


def _choose_digit(run: WatchedRun) -> int:
    labels = [run.labels[bag.true] for bag in run.bags]
    return labels.index(kept.show_choice("digit", texts.DIGIT_LABEL, labels, labels[0], shape="pills"))


def _show_contrast(runs: AttentionRuns, palette: Palette) -> None:
    rows = contrasts(runs)
    st.markdown(texts.CONTRAST_HEADING)
    charts.show(contrast_figure(rows, texts.MODEL_TITLES_PLAIN, palette), "lesson-contrast", texts.contrast_alt(rows))
    st.markdown(sentences.contrast_lesson(rows))
