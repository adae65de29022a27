"""Small made-up bags that can be learned from."""

import numpy as np

from bag_generators import Bag
from bag_generators.regions import BoxRegions
from elimipl.candidates.labels import LabelSpace
from elimipl.datasets.dataset import BagDataset


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


def bag_of(features: np.ndarray, like: Bag, blocks: np.ndarray | None = None) -> Bag:
    """A bag of any features that claims to come from where `like` comes from."""
    n = len(features)
    boxes = np.stack([np.arange(n), np.zeros(n), np.arange(n) + 1, np.ones(n)], axis=1).astype(int)
    regions = BoxRegions(boxes, (1, n), blocks)
    return Bag(np.array(features, np.float32), regions, like.generator, like.params, like.feature_names, "")
