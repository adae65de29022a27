"""One vector per bag, for learners that know no instances: the Mean and MaxMin features of the paper."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elimipl.datasets.dataset import BagDataset
from elimipl.methods.learner import check_width
from elimipl.model.scaling import Scaler, fit_scaler


def mean_features(dataset: BagDataset) -> np.ndarray:
    """(m, d) float64: the mean instance of each bag."""
    sums = np.add.reduceat(dataset.instances, dataset.offsets[:-1], axis=0, dtype=np.float64)
    return sums / dataset.sizes[:, None]


def maxmin_features(dataset: BagDataset) -> np.ndarray:
    """(m, 2d) float64: the largest, then the least value of each feature in each bag."""
    starts = dataset.offsets[:-1]
    largest, least = (extreme.reduceat(dataset.instances, starts, axis=0) for extreme in (np.maximum, np.minimum))
    return np.concatenate([largest, least], axis=1).astype(np.float64)


FEATURES = {"mean": mean_features, "maxmin": maxmin_features}


@dataclass(frozen=True, eq=False)
class BagScaler:
    """Bag features, standardised with the statistics of the training bags."""

    kind: str
    dim: int
    scaler: Scaler

    @classmethod
    def learn(cls, dataset: BagDataset, kind: str) -> tuple[BagScaler, np.ndarray]:
        """Fit to training bags; also gives their standardised features (m, d or 2d)."""
        features = FEATURES[kind](dataset)
        scaler = fit_scaler(features, "zscore")
        return cls(kind, dataset.dim, scaler), scaler.transform(features)

    def transform(self, dataset: BagDataset) -> np.ndarray:
        """Standardised features of other bags."""
        check_width(dataset, self.dim)
        return self.scaler.transform(FEATURES[self.kind](dataset))
