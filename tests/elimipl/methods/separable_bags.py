"""Bags that every method can learn from, and bags that are hard on all of them."""

import numpy as np

from elimipl.candidates.crowd import uniform_false_positives
from elimipl.candidates.labels import LabelSpace
from elimipl.datasets.dataset import BagDataset

CLASSES = 4


def separable_bags(m: int = 120, seed: int = 0, r: int = 1) -> BagDataset:
    """Bags of 2..4 instances of 6 features: two lie about the centre of the class, the rest about the origin."""
    rng = np.random.default_rng(seed)
    centres = 6 * np.eye(6)[:CLASSES]
    labels = np.arange(m) % CLASSES
    bags = []
    for label in labels:
        bag = 0.7 * rng.normal(size=(rng.integers(2, 5), 6))
        bag[:2] += centres[label]
        bags.append(bag)
    candidates = uniform_false_positives(labels, CLASSES, r, seed)
    return BagDataset.from_bags(bags, label_space(), labels=labels, candidates=candidates)


def one_instance_bags() -> BagDataset:
    """Fewer bags than neighbours or features, one instance each."""
    rng = np.random.default_rng(1)
    labels = np.arange(6) % CLASSES
    candidates = uniform_false_positives(labels, CLASSES, 1, 1)
    bags = list(rng.normal(size=(6, 1, 9)))
    return BagDataset.from_bags(bags, label_space(), labels=labels, candidates=candidates)


def mixed_candidates() -> BagDataset:
    """Candidate sets of one label, of all but one, and of all."""
    bags = separable_bags(24)
    candidates = bags.candidates.copy()
    every = np.arange(len(bags))
    candidates[every % 3 == 0] = np.eye(CLASSES, dtype=bool)[bags.labels[every % 3 == 0]]
    candidates[every % 3 == 1] = ~np.eye(CLASSES, dtype=bool)[(bags.labels[every % 3 == 1] + 1) % CLASSES]
    candidates[2] = True
    return bags.with_candidates(candidates)


def constant_features() -> BagDataset:
    """Bags that can't be told apart."""
    labels = np.arange(12) % CLASSES
    candidates = uniform_false_positives(labels, CLASSES, 1)
    return BagDataset.from_bags([np.full((2, 3), 7.0)] * 12, label_space(), labels=labels, candidates=candidates)


def label_space() -> LabelSpace:
    return LabelSpace.of("ABCD", id="separable")
