"""Random train/test splits that keep the class shares and never part the copies of one source."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from bag_generators.base.errors import InputError

if TYPE_CHECKING:
    from elimipl.datasets.dataset import BagDataset

Split = tuple[np.ndarray, np.ndarray]
"""Indices of the training bags and of the test bags, each sorted."""


def stratified_splits(
    labels: np.ndarray, n: int = 10, train: float = 0.7, seed: int = 0, groups: np.ndarray | None = None
) -> list[Split]:
    """`n` random splits with a share `train` of every class in the training part.

    With `groups` (m,) whole groups are dealt out, so that augmented copies of one tile stay on one side; the shares
    are then shares of groups. A class with at least two groups always has one on either side.
    """
    labels = np.asarray(labels)
    if len(labels) == 0 or (labels < 0).any():
        raise InputError("A split by class needs the true label of every bag.", "Leave out bags without a label.")
    if not 0 < train < 1:
        raise InputError(f"The training share can't be {train!r}.", "Give a share between 0 and 1, such as 0.7.")
    sources, first, group_of = np.unique(
        np.arange(len(labels)) if groups is None else groups, return_index=True, return_inverse=True
    )
    if (labels[first][group_of] != labels).any():
        raise InputError("Bags of one group have different labels.", "Give each source tile one class.")
    rng = np.random.default_rng(seed)
    splits = []
    for _ in range(n):
        chosen = np.zeros(len(sources), bool)
        for label in np.unique(labels):
            members = rng.permutation(np.flatnonzero(labels[first] == label))
            count = int(np.floor(train * len(members) + 0.5))
            count = min(max(count, 1), max(len(members) - 1, 1))
            chosen[members[:count]] = True
        in_train = chosen[group_of]
        splits.append((np.flatnonzero(in_train), np.flatnonzero(~in_train)))
    return splits


def group_folds(dataset: BagDataset, n: int = 5, seed: int = 0) -> list[Split]:
    """`n` splits whose test parts are `n` folds of whole groups, with every source and candidate set shared out evenly.

    For bags whose true label may be unknown and whose groups hold several classes, such as slides (`elimipl.join`).
    """
    from sklearn.model_selection import StratifiedGroupKFold

    groups = len(np.unique(dataset.groups))
    if not 2 <= n <= groups:
        raise InputError(
            f"{groups} groups of bags can't make {n} folds.",
            f"Choose 2 to {groups} folds." if groups > 1 else "Add bags.",
        )
    source_of = np.unique(dataset.sources, return_inverse=True)[1] if dataset.sources else np.zeros(len(dataset), int)
    strata = np.unique(np.c_[source_of, dataset.candidates], axis=0, return_inverse=True)[1].reshape(-1)
    # A fold needs a bag of the most frequent stratum at least; rarer ones are then missing from some folds.
    folds = StratifiedGroupKFold(n, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        if np.bincount(strata).max() < n:
            strata = np.zeros_like(strata)
        splits = list(folds.split(strata, strata, dataset.groups))
    return [(np.sort(train), np.sort(test)) for train, test in splits]
