"""Digit bags with evidence for and against: the majority of zeros or ones decides, all other digits say nothing."""

import numpy as np
from sklearn.datasets import load_digits

from elimipl.candidates.labels import LabelSpace
from elimipl.datasets.dataset import BagDataset

ZERO, ONE = 0, 1


def evidence_bags(m: int = 300, seed: int = 0, size: int = 12) -> BagDataset:
    """Bags of twelve digits; three or four of the digit that names the bag, one or two of the other one.

    Instance truth marks the digits that speak for the bag's label.
    """
    rng = np.random.default_rng(seed)
    digits = load_digits()
    kinds = [np.flatnonzero(digits.target == ZERO), np.flatnonzero(digits.target == ONE)]
    others = np.flatnonzero(digits.target > ONE)
    labels = np.arange(m) % 2
    bags, truth = [], []
    for label in labels:
        supporting, contrary = rng.integers(3, 5), rng.integers(1, 3)
        rows = np.concatenate([
            rng.choice(kinds[label], supporting),
            rng.choice(kinds[1 - label], contrary),
            rng.choice(others, size - supporting - contrary),
        ])  # fmt: skip
        order = rng.permutation(size)
        bags.append(digits.data[rows[order]] / 16)
        truth.append((np.arange(size) < supporting)[order])
    space = LabelSpace.of(("zeros", "ones"), id="evidence")
    described = {"generator": "pixels", "source": "digits of scikit-learn"}
    return BagDataset.from_bags(bags, space, labels, instance_truth=truth, **described)
