"""What a recipe does on training tiles it has not seen."""

import numpy as np
from tqdm import tqdm

from elimipl.cards.held_out import HeldOut
from elimipl.config import Config
from elimipl.dataset import BagDataset
from elimipl.training.loop import Fitted, fit
from elimipl.training.splits import Split

LEFT_OUT = 3  # parts of the pseudo-slides, each left out once


def held_out(dataset: BagDataset, config: Config, splits: list[Split], called: str) -> list[HeldOut]:
    """What is said about the untouched test tiles of each split, which are `called` so on the card.

    A split holds positions of source tiles; the first bags of the data set are the tiles themselves, in order.
    """
    found = []
    for train, test in tqdm(splits, desc="held out", leave=False):
        learned = dataset.subset(np.flatnonzero(np.isin(dataset.groups, dataset.groups[train])))
        untouched = dataset.subset(test)
        found.append(outputs_of(fit(learned, config), untouched, called))
    return found


def outputs_of(fitted: Fitted, bags: BagDataset, called: str) -> HeldOut:
    """What a fitted model says about other bags."""
    return HeldOut(fitted.predict(bags).probabilities, bags.labels, called, bags.candidates, bags.groups)


def together(outputs: list[HeldOut]) -> HeldOut:
    """The outputs of all splits, one after the other."""
    parts = {
        name: [getattr(one, name) for one in outputs] for name in ("probabilities", "labels", "candidates", "groups")
    }
    return HeldOut(called=outputs[0].called, **{name: np.concatenate(values) for name, values in parts.items()})


def accuracy_of(outputs: HeldOut) -> float:
    """Share of the tiles whose most probable class is the true one."""
    return float((outputs.probabilities.argmax(1) == outputs.labels).mean())
