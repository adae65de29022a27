"""What a recipe does on training tiles it has not seen."""

import numpy as np
from tqdm import tqdm

from elimipl.config import Config
from elimipl.dataset import BagDataset
from elimipl.training.loop import fit
from elimipl.training.splits import Split

LEFT_OUT = 3  # parts of the pseudo-slides, each left out once


def held_out(dataset: BagDataset, config: Config, splits: list[Split]) -> list[tuple[np.ndarray, np.ndarray]]:
    """Raw probabilities and labels of the untouched test tiles of each split.

    A split holds positions of source tiles; the first bags of the data set are the tiles themselves, in order.
    """
    found = []
    for train, test in tqdm(splits, desc="held out", leave=False):
        learned = dataset.subset(np.flatnonzero(np.isin(dataset.groups, dataset.groups[train])))
        untouched = dataset.subset(test)
        found.append((fit(learned, config).predict(untouched).probabilities, untouched.labels))
    return found


def accuracy_of(probabilities: np.ndarray, labels: np.ndarray) -> float:
    """Share of the tiles whose most probable class is the true one."""
    return float((probabilities.argmax(1) == labels).mean())
