"""Recorded trainings of several methods on the same bags: what each believed of a few bags after every epoch.

`scripts/record_trajectories.py` makes the files in assets/trajectories, one safetensors file a data set.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from bag_generators.base.assets import assets
from bag_generators.base.errors import InputError
from bag_generators.base.storage import ForeignFileError, read_tensors, write_tensors
from bag_generators.base.validation import Record, plain, validated
from elimipl.candidates.labels import LabelSpace

TRAJECTORIES_FOLDER = assets("trajectories")
LOSSES = ("mapping", "sparsity", "inhibition", "attention", "total")
ACCURACIES = ("train_accuracy", "held_out_accuracy", "disambiguation_accuracy")
_METADATA_KEY = "elimipl.trajectories"
_REPAIR = "Restore it with “git checkout -- assets/trajectories”, or run scripts/record_trajectories.py again."


class About(Record):
    """What was trained on what, in plain values."""

    id: str
    title: str
    bags: str  # id of the shipped bag set, or “digits”
    candidates: str  # where the candidate sets come from: “random” or “crowd”
    r: int  # false positive labels in every random candidate set
    candidate_seed: int
    methods: tuple[str, ...]
    configs: Mapping[str, Mapping[str, Any]]  # all settings of each method
    bag_names: tuple[str, ...]
    training_bags: int
    held_out_bags: int
    label_space: LabelSpace


@dataclass(frozen=True, eq=False)
class Trajectories:
    """M methods, T epochs, m training bags, b of them watched, with N instances altogether, k classes.

    Index 0 along the epochs is the untrained model. Probabilities and attention are those of the finished epoch,
    without dropout.
    """

    about: About
    labels: np.ndarray  # (b,) int64
    candidates: np.ndarray  # (b, k) bool
    offsets: np.ndarray  # (b + 1,) int64
    instance_truth: np.ndarray  # (N,) bool; all false where it is unknown
    probabilities: np.ndarray  # (M, T + 1, b, k) float16
    weights: np.ndarray  # (M, T + 1, b, k) float16
    attention: np.ndarray  # (M, T + 1, N) float16
    losses: np.ndarray  # (M, T, 5) float32, in the order of LOSSES
    accuracies: np.ndarray  # (M, T, 3) float32, in the order of ACCURACIES
    all_labels: np.ndarray  # (m,) int64
    all_candidates: np.ndarray  # (m, k) bool
    all_probabilities: np.ndarray  # (M, m, k) float16, after the last epoch

    @property
    def label_space(self) -> LabelSpace:
        return self.about.label_space

    @property
    def epochs(self) -> int:
        return self.probabilities.shape[1] - 1

    def method(self, name: str) -> int:
        """Place of a method along the first axis."""
        return self.about.methods.index(name)

    def instances(self, bag: int) -> slice:
        """Rows of the instances of a watched bag."""
        return slice(int(self.offsets[bag]), int(self.offsets[bag + 1]))

    def truth_of(self, bag: int) -> np.ndarray | None:
        """Which instances of a watched bag carry the class; None where nobody knows."""
        truth = self.instance_truth[self.instances(bag)]
        return truth if self.instance_truth.any() else None

    def save(self, path: Path) -> None:
        """Write one safetensors file, all or nothing."""
        arrays = {one.name: getattr(self, one.name) for one in fields(self) if one.name != "about"}
        write_tensors(path, arrays, _METADATA_KEY, plain(self.about), "The recording")


def read_trajectories(path: Path) -> Trajectories:
    """What `save` wrote; anything else is refused with a sentence."""
    called = f"The recording “{path.name}”"
    try:
        arrays, values = read_tensors(path, _METADATA_KEY, path.name)
    except (InputError, ForeignFileError):
        raise InputError(f"{called} is missing or damaged.", _REPAIR) from None
    about = validated(About, values, called, _REPAIR)
    return Trajectories(about=about, **arrays)


def recordings(folder: Path = TRAJECTORIES_FOLDER) -> dict[str, Path]:
    """The recordings in `folder` by id."""
    return {path.stem: path for path in sorted(folder.glob("*.safetensors"))}
