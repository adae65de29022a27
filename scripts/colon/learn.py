"""Teach the colon model and ask it: shared by the scripts that choose, train and measure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from sklearn.metrics import roc_auc_score

from elimipl.answers.acceptance import KnownBags, read_bag, signs
from elimipl.config import Config
from elimipl.datasets.dataset import BagDataset
from elimipl.model.inference import infer
from elimipl.training.loop import Fitted, fit
from scripts.colon.bags import Task, mixed
from scripts.colon.readings import Reader, Readings, read
from scripts.colon.recipes import Mixture, Recipe
from scripts.colon.sources import Picture, pictures, taught

KNOWN_BAGS = 900


def spread_out(shown: Sequence[Picture], per_class: int, seed: int = 0) -> list[Picture]:
    """Up to `per_class` pictures of every class, as many of each group as possible."""
    rng = np.random.default_rng(seed)
    chosen = []
    for label in sorted({p.label for p in shown}):
        groups: dict[str, list[Picture]] = {}
        for i in rng.permutation(len(shown)):
            if shown[i].label == label:
                groups.setdefault(shown[i].group, []).append(shown[i])
        turns = [group.pop() for _ in range(per_class) for group in groups.values() if group]
        chosen += turns[:per_class]
    return chosen


def teaching(
    reader: Reader,
    task: Task,
    sources: Sequence[str],
    data: Path,
    recipe: Recipe,
    per_class: int,
    fold: int | None = None,
) -> dict[str, Readings]:
    """What a model learns from, by source: up to `per_class` pictures of a class, with copies; without a fold."""
    found = {}
    for source in sources:
        shown = spread_out(taught(source, data, fold), per_class)
        found[source] = task.shown(read(reader, shown, recipe.copies.get(source, 0)))
    return found


def left_out(reader: Reader, source: str, data: Path, fold: int | None, per_class: int = 10_000) -> Readings:
    """Pictures of a source to ask about: a fold of its train part, or with None what is held back."""
    everything = pictures(source, data)
    asked = [p for p in everything if (p.held_back if fold is None else not p.held_back and p.fold == fold)]
    return read(reader, spread_out(asked, per_class))


@dataclass(frozen=True, eq=False)
class Said:
    """What a model says about some pictures."""

    cells: Readings
    probabilities: np.ndarray  # (m, k) raw
    attention: list[np.ndarray]
    columns: np.ndarray  # (k,) the class of the colon that each class is

    @property
    def right(self) -> np.ndarray:
        """(m,) whether the answer lies in the set that the source's label maps to."""
        return self.cells.meant[np.arange(len(self.cells)), self.columns[self.probabilities.argmax(1)]]

    def balanced(self) -> float:
        """Mean over the source's labels of the share answered rightly."""
        labels = np.array([p.label for p in self.cells.pictures])
        return float(np.mean([self.right[labels == label].mean() for label in sorted(set(labels))]))


def ask(fitted: Fitted, cells: Readings, task: Task) -> Said:
    """The model's answers for whole pictures."""
    sizes = np.array([len(f) for f in cells.features])
    found = infer(fitted.network, fitted.scaler, np.concatenate(cells.features).astype(np.float32), sizes)
    assert found.attention is not None
    return Said(cells, found.probabilities, np.split(found.attention, np.cumsum(sizes)[:-1]), task.columns)


def gland_auroc(cells: Readings, scores: Sequence[np.ndarray]) -> float:
    """Mean over pictures of the pixel AUROC of painted scores against the gland mask."""
    found = []
    for picture, grid, score in zip(cells.pictures, cells.grids, scores, strict=True):
        truth = cv2.imread(str(picture.mask), cv2.IMREAD_GRAYSCALE) > 127
        if 0.01 < truth.mean() < 0.99:
            painted = cv2.resize(score.reshape(grid), truth.shape[::-1], interpolation=cv2.INTER_NEAREST)
            found.append(roc_auc_score(truth.ravel(), painted.ravel()))
    return float(np.mean(found))


def darkness(picture: Picture, grid: tuple[int, int]) -> np.ndarray:
    """How dark every cell is after a blur of 10 px: what a map has to beat."""
    grey = cv2.cvtColor(picture.pixels(), cv2.COLOR_RGB2GRAY).astype(np.float32)
    return 255 - cv2.resize(cv2.GaussianBlur(grey, (0, 0), 10), grid[::-1], interpolation=cv2.INTER_AREA).ravel()


def learned(
    reader: Reader,
    known: Mapping[str, Readings],
    mixture: Mixture,
    task: Task,
    settings: Config,
    stroma: Sequence[np.ndarray] | None = None,
) -> tuple[Fitted, BagDataset]:
    """A model of all sources in `known`, and the bags it learned from."""
    bags = mixed(known, mixture, task, reader, settings.seed, stroma)
    return fit(bags, settings), bags


def known_bags(fitted: Fitted, known: Mapping[str, Readings], task: Task, seed: int = 0) -> KnownBags:
    """Some pictures of every source and class as the model embeds them."""
    rng = np.random.default_rng(seed)
    kinds: dict[tuple[str, str], list[tuple[Readings, int]]] = {}
    for cells in known.values():
        for i, picture in enumerate(cells.pictures):
            kinds.setdefault((picture.source, picture.label), []).append((cells, i))
    each = KNOWN_BAGS // len(kinds)
    chosen = [kind[j] for kind in kinds.values() for j in rng.permutation(len(kind))[:each]]
    readings = [read_bag(fitted.network, fitted.scaler, cells.features[i].astype(np.float32)) for cells, i in chosen]
    return KnownBags(
        np.stack([r.embedding for r in readings]),
        np.stack([r.mean for r in readings]),
        np.stack([cells.meant[i][task.columns] for cells, i in chosen]),
    )


def signs_of(fitted: Fitted, known: KnownBags, cells: Readings) -> np.ndarray:
    """(m, 7) what speaks for each answer."""
    return np.array(
        [signs(read_bag(fitted.network, fitted.scaler, f.astype(np.float32)), known) for f in cells.features]
    )
