"""Disambiguation weights moving epoch by epoch, for one training bag at a time."""

from typing import Any

import numpy as np

from ui.frame import moving
from ui.frame.palette import current_palette
from ui.lesson import kept, sentences, texts
from ui.lesson.case import Case
from ui.lesson.collected import collected, count_collected
from ui.lesson.recorded import recorded_runs

DASHES = ("dash", "dot", "dashdot")


def show(_case: Case) -> dict[str, Any]:
    run = recorded_runs().weights
    bags = {bag.name: bag for bag in run.bags}
    chosen = kept.show_choice(
        "bag", texts.BAG_LABEL, list(bags), run.bags[0].name,
        lambda name: texts.bag_name(name, bags[name].ends_wrong), "pills",
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
    lines = [sentences.weights_caption(run, bag, epoch) for epoch in epochs]
    last = len(weights) - 1
    alarm = [bag.ends_wrong and epoch == last for epoch in epochs]
    over = (slider.key,)
    panels = (
        moving.Lines(over, list(epochs), series, texts.EPOCH_LABEL, title=texts.BELIEF_TITLE),
        moving.Bars(over, run.labels, colours, weights, framed=bag.true, title=texts.BELIEF_NOW),
        moving.Words(over, lines, alarm),
    )
    stands = moving.show("lesson-beliefs", (slider,), panels, texts.beliefs_alt(bag.name))
    if stands[slider.key] == last:
        collected("beliefs", chosen)
    return {"bags_followed": count_collected("beliefs")}
