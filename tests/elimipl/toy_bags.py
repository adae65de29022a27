"""Small made-up bags that can be learned from."""

import numpy as np

from elimipl.dataset import BagDataset
from elimipl.labels import LabelSpace


def toy_bags(m: int = 120, k: int = 4, d: int = 5, seed: int = 0, false_positives: float = 0.4) -> BagDataset:
    """Bags of 2..6 instances, of which the first carries the class and the others are noise."""
    rng = np.random.default_rng(seed)
    centres = 3 * np.random.default_rng(99).normal(size=(k, d))
    labels = np.arange(m) % k
    bags = []
    for label in labels:
        bag = rng.normal(size=(rng.integers(2, 7), d))
        bag[0] += centres[label]
        bags.append(bag)
    candidates = rng.random((m, k)) < false_positives
    candidates[np.arange(m), labels] = True
    return BagDataset.from_bags(bags, LabelSpace.of("ABCDEFGHIJ"[:k], id="toy"), labels=labels, candidates=candidates)
