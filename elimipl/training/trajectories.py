"""Recorded trainings of several methods on the same bags: what each said of them after every epoch.

`scripts/record_trajectories.py` makes the files in assets/trajectories, one safetensors file per data set.
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
from elimipl.training.figure_two import FigureTwo

TRAJECTORIES_FOLDER = assets("trajectories")
MEASURED = ("training", "held_out", "elsewhere")
"""The bags that are measured; not every recording has bags from elsewhere."""
STEPS = 200  # shares are kept in as many steps
_METADATA_KEY = "elimipl.trajectories"
_REPAIR = "Restore it with “git checkout -- assets/trajectories”, or run scripts/record_trajectories.py again."


class About(Record):
    """What was trained on what, in plain values."""

    id: str
    title: str
    bags: str  # id of the shipped bag set, or “crc-row”
    candidates: str  # where the candidate sets come from, as in `elimipl.candidates.crowd.Candidates`
    trainings: int  # number i has split i, candidate sets i and seed i; what single bags show is of number 0
    methods: tuple[str, ...]
    configs: Mapping[str, Mapping[str, Any]]  # all settings of each method
    measured: Mapping[str, int]  # how many bags of which of MEASURED
    elsewhere: str  # what the bags from elsewhere are called
    bag_names: tuple[str, ...]
    watched: tuple[int, ...]  # places of the watched bags among those that `make_plan` would watch
    typical: int  # the watched bag that is nearest to the medians of all training bags, in level and gain
    label_space: LabelSpace


@dataclass(frozen=True, eq=False)
class Trajectories:
    """M methods, T epochs, s trainings, P kinds of bags measured, b bags watched with N instances, k classes.

    Index 0 along the epochs is the untrained model. Probabilities and attention are those of the finished epoch,
    without dropout; a method that trains fewer epochs than another stays as it is after its last one.
    """

    about: About
    labels: np.ndarray  # (b,) int64
    candidates: np.ndarray  # (b, k) bool
    offsets: np.ndarray  # (b + 1,) int64
    instance_truth: np.ndarray  # (N,) bool; all false where it is unknown
    probabilities: np.ndarray  # (M, T + 1, b, k) float16
    attention: np.ndarray  # (M, T + 1, N) float16
    accuracies: np.ndarray  # (M, s, T + 1, P + 1) float16: of the P kinds of bags, and the share of true labels found
    medians: np.ndarray  # (M, P, T + 1, 3) float16: `three_probabilities`, over the bags of all trainings
    shares: np.ndarray  # (M, M, s, P, T + 1, 5) uint8, of STEPS: `shares_of_bags` from the first method to the second

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

    def figure_two(self, first: str, second: str, measured: str = "training") -> FigureTwo:
        """What Figure 2 says of two methods, for the bags of one kind."""
        place = list(self.about.measured).index(measured)
        return FigureTwo(self.shares[self.method(first), self.method(second), :, place] / STEPS)

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
