"""What training comes to: disambiguation weights epoch by epoch, and accuracy by the number of false positives."""

from typing import Any

import numpy as np
import streamlit as st

from elimipl.benchmark.cells import MIPL, VIEWS, Cell
from elimipl.benchmark.claims import phenomena
from elimipl.benchmark.records import Records
from elimipl_app.lesson import kept, texts
from elimipl_app.lesson.case import Case
from elimipl_app.lesson.kept import collected, count_collected
from elimipl_app.lesson.progress import is_revealed
from elimipl_app.lesson.recorded import Recording, benchmark_records, ends_wrong, recorded_runs
from elimipl_app.shell import moving
from elimipl_app.shell.palette import Palette, current_palette

DASHES = ("dash", "dot", "dashdot")


def show_weights(_case: Case) -> dict[str, Any]:
    run = recorded_runs().weights
    bags = {bag.name: bag for bag in run.bags}
    chosen = kept.show_choice(
        "bag", "Training bag", list(bags), run.bags[0].name,
        lambda name: texts.bag_name(name, ends_wrong(bags[name])), "pills",
    )  # fmt: skip
    bag = bags[chosen]
    palette = current_palette()
    weights, candidates = np.array(bag.weights), np.flatnonzero(bag.candidates).tolist()
    epochs = range(len(weights))
    slider = moving.Slider("epoch", texts.EPOCH_LABEL, epochs, plays=True)
    series = [
        moving.Series(
            texts.true_name(run.labels[index], index == bag.true),
            palette.true if index == bag.true else palette.candidate,
            weights[:, index].tolist(),
            "" if index == bag.true else DASHES[number % 3],
            4 if index == bag.true else 2.5,
        )
        for number, index in enumerate(candidates)
    ]
    colours = [palette.candidate if inside else palette.non_candidate for inside in bag.candidates]
    lines = [texts.weights_caption(run, bag, epoch) for epoch in epochs]
    last = len(weights) - 1
    alarm = [ends_wrong(bag) and epoch == last for epoch in epochs]
    over = (slider.key,)
    panels = (
        moving.Lines(over, list(epochs), series, texts.EPOCH_LABEL, title="Belief w over the epochs"),
        moving.Bars(over, run.labels, colours, weights, framed=bag.true, title="Belief at this epoch"),
        moving.Words(over, lines, alarm),
    )
    stands = moving.show(
        "lesson-beliefs", (slider,), panels, f"Belief in each candidate of training bag {bag.name}, epoch by epoch."
    )
    if stands[slider.key] == last:
        collected("beliefs", chosen)
    return {"bags_followed": count_collected("beliefs")}


BIRDSONG, BIRDSONG_CLASSES = "birdsong", 13


def show_ambiguity(_case: Case) -> dict[str, Any]:
    run = recorded_runs().accuracy_by_r
    palette = current_palette()
    left, right = st.columns([1, 2.2], gap="large")
    with left:
        guess = (
            kept.number("guess", "Your guess: ELIMIPL's accuracy with three false positives", 0, 100, 50).shown_by(
                st.slider, 0, 100, step=5, format="%d %%"
            )
            / 100
        )
        shown = kept.show_switch("shown", "Show what happened")
        if shown:
            st.markdown(texts.guess_checked(guess, run))
    with right:
        stages = run.r if shown else run.r[:1]
        slider = moving.Slider("r_digits", texts.R_LABEL, stages, stages[-1], plays=shown)
        moving.show(
            "lesson-accuracy", (slider,), (_digits(run, guess, shown, palette),), texts.accuracy_alt(run, shown)
        )
        seeds = len(next(iter(run.accuracy.values()))[0])
        st.caption(f"{texts.RECORDED}: scikit-learn's digits in bags, {seeds} seeds. {run.about}")
    records = benchmark_records()
    if shown and is_revealed("ambiguity") and records is not None:
        _show_birdsong(records, palette)
    return {"shown": shown}


def _colours(palette: Palette) -> tuple[str, str, str]:
    return palette.true, palette.candidate, palette.non_candidate


def _digits(run: Recording, guess: float, shown: bool, palette: Palette) -> moving.Lines:
    seen = len(run.r) if shown else 1
    series = [
        moving.Series(
            name,
            colour,
            [float(np.mean(seeds)) if row < seen else None for row, seeds in enumerate(values)],
            spread=[float(np.std(seeds)) for seeds in values],
            marks=True,
        )
        for (name, values), colour in zip(run.accuracy.items(), _colours(palette), strict=True)
    ]
    return moving.Lines(
        ("r_digits",), list(run.r), series, texts.R_LABEL, level=1 / run.classes,
        title="Digit bags: mean held-out accuracy, whiskers of one standard deviation",
        star=(run.r[-1], guess, "your guess"), ahead=False,
    )  # fmt: skip


def _show_birdsong(records: Records, palette: Palette) -> None:
    rs = VIEWS["figure 4"].rs
    found = {method: [records.measured(Cell(BIRDSONG, r, method)) for r in rs] for method in MIPL}
    splits = {len(one.splits) for cells in found.values() for one in cells if one is not None}
    if not splits:
        return
    series = [
        moving.Series(
            method, colour, [None if one is None else one.mean for one in cells],
            spread=[0.0 if one is None else one.std for one in cells], marks=True,
        )
        for (method, cells), colour in zip(found.items(), _colours(palette), strict=True)
    ]  # fmt: skip
    slider = moving.Slider("r_birdsong", texts.R_LABEL, rs, rs[-1], plays=True)
    lines = moving.Lines(
        (slider.key,), list(rs), series, texts.R_LABEL, title=texts.birdsong_title(min(splits), max(splits)),
        level=1 / BIRDSONG_CLASSES,
    )  # fmt: skip
    moving.show(
        "lesson-birdsong",
        (slider,),
        (lines,),
        "Accuracy of ELIMIPL, DEMIPL and MIPLGP on Birdsong over r from 1 to 10.",
    )
    st.markdown("**What the paper says of Birdsong, and what our runs show**")
    for statement, seen in phenomena(records, BIRDSONG):
        st.markdown(f"- {statement} *{seen}*")
