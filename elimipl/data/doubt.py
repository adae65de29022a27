"""A second opinion on candidate sets: labels that pathologists confuse with those a picture may already have."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from bag_generators.errors import InputError
from elimipl.data.crowd import look_alikes
from elimipl.labels import LabelSpace


def doubtful(
    candidates: ArrayLike,
    pictures: Sequence[str],
    label_space: LabelSpace,
    *,
    seed: int = 0,
    chances: ArrayLike | None = None,
) -> np.ndarray:
    """Candidate sets (m, k) with at most one label added to each, as often as it is confused with those in the set.

    `chances[y, c]` (k, k) is how often c comes up for a picture of class y; by default what is known of the classes of
    `label_space` (`elimipl.data.crowd.look_alikes`: counted among pathologists where there are counts, else assumed).
    A set of several labels has no single truth: each of them is taken as equally likely. No more than one is added,
    because in the counts behind the table one patch of 4,021 had two. A set never comes to hold every class.

    `pictures` names the picture behind each bag, source included: the draw depends on that name and `seed` alone, so
    that augmented copies of a picture share their doubt, whichever other bags are there.

    >>> from elimipl.labels import COLON
    >>> sets = np.eye(12, dtype=bool)[[1] * 1000]
    >>> added = doubtful(sets, [f"tile {i}" for i in range(1000)], COLON) & ~sets
    >>> [name for name, share in zip(COLON.names, added.mean(axis=0)) if share > 0.1]
    ['normal', 'high_grade', 'serrated']
    """
    sets, k = np.asarray(candidates, dtype=bool), len(label_space)
    if sets.ndim != 2 or sets.shape[1] != k or not sets.any(axis=1).all() or len(pictures) != len(sets):
        raise InputError(
            f"Candidate sets of the shape {sets.shape} and {len(pictures)} names of pictures don't fit {k} classes.",
            "Give one filled row of candidates and one name for each bag.",
        )
    table = _checked(look_alikes(label_space) if chances is None else np.asarray(chances, dtype=float), label_space)
    chance = np.where(sets, 0.0, (sets @ table) / sets.sum(axis=1, keepdims=True))
    chance[sets.sum(axis=1) >= k - 1] = 0.0
    drawn = {name: _uniform(f"{seed}/{name}") for name in set(pictures)}
    draw = np.array([drawn[name] for name in pictures])[:, None]
    upper = np.cumsum(chance, axis=1)
    return np.asarray(sets | ((upper - chance <= draw) & (draw < upper)))


def _uniform(name: str) -> float:
    """A number in [0, 1) that depends on nothing but the name."""
    return int.from_bytes(hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()[:6], "big") / 2.0**48


def _checked(table: np.ndarray | None, label_space: LabelSpace) -> np.ndarray:
    k = len(label_space)
    if table is None:
        raise InputError(
            f"Nothing is known about which classes of “{label_space.id}” get confused.",
            f"Give the chances as {k} rows of {k} numbers.",
        )
    if table.shape != (k, k) or not ((table >= 0).all() and (table.sum(axis=1) <= 1 + 1e-9).all()):
        raise InputError(
            "The chances of doubt are not a table of chances.",
            f"Give {k} rows of {k} numbers from 0 to 1, each with a sum of at most 1.",
        )
    return table
