"""Bags that are ready to be learned from: what every source of data hands over."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from elimipl.data.crowd import simulate
from elimipl.dataset import BagDataset
from elimipl.training.splits import Split

SEED = 0
"""Seed of the bags, the random candidate sets and the splits."""


@dataclass(frozen=True, eq=False)
class Prepared:
    """All bags of a data set and how each split parts them.

    `crowd`: the bags know only their true labels, and the training bags of split i get the candidate sets of three
    simulated annotators with seed i.
    """

    dataset: BagDataset
    splits: Sequence[Split]
    crowd: bool = False

    def parts(self, index: int) -> tuple[BagDataset, BagDataset]:
        """Training and test bags of a split."""
        train, test = (self.dataset.subset(part) for part in self.splits[index])
        if self.crowd:
            train = train.with_candidates(simulate(train.labels, train.label_space, seed=index).candidates)
        return train, test

    @cached_property
    def described(self) -> dict[str, Any]:
        """What the results file keeps of the bags; the hash tells whether two runs had the same."""
        digest = hashlib.sha256()
        dataset = self.dataset
        for array in (dataset.instances, dataset.offsets, dataset.candidates, dataset.labels):
            digest.update(np.ascontiguousarray(array).tobytes())
        return {**dataset.params, "sha256": digest.hexdigest()}
