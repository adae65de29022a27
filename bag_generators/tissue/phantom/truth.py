"""From the truth of pixels to the truth of instances."""

from __future__ import annotations

import numpy as np

from bag_generators.bag import Bag
from bag_generators.errors import InputError


def instance_truth(bag: Bag, truth: np.ndarray) -> np.ndarray:
    """Which instances carry the class, (n,) bool: those of whose region `truth` covers at least half.

    Regions can be larger than the structure they hold (a row is as wide as the picture), so the most covered
    instance always counts, however small its share: a bag of class c has at least one instance of class c, as
    multi-instance learning assumes. Only if `truth` (H, W) touches no region at all does no instance count.
    """
    shares = instance_shares(bag, truth)
    return (shares >= min(0.5, shares.max())) & (shares > 0)


def instance_shares(bag: Bag, truth: np.ndarray) -> np.ndarray:
    """How much of the region of every instance `truth` (H, W) covers, (n,) from 0 to 1."""
    if truth.shape != bag.regions.shape:
        raise InputError(
            f"The truth is {truth.shape} pixels large and the bag's picture {bag.regions.shape}.",
            "Use the truth of the picture from which the bag was made.",
        )
    masks = (bag.regions.mask(i) for i in range(len(bag.regions)))
    return np.array([truth[mask].sum() / max(mask.sum(), 1) for mask in masks])
