"""Krippendorff's α against published examples and against the definition, pair by pair."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elimipl.data.crowd import krippendorff_alpha

# Krippendorff, Computing Krippendorff's Alpha-Reliability (2011), section C: four observers, twelve units.
FOUR_OBSERVERS = np.array([
    [1, 2, 3, 3, 2, 1, 4, 1, 2, -1, -1, -1],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, -1, 3],
    [-1, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, -1],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, -1],
])  # fmt: skip


def by_pairs(labels):
    """1 − observed / expected disagreement, counted over ordered pairs of answers."""
    units = [[int(value) for value in unit if value >= 0] for unit in labels.T]
    units = [unit for unit in units if len(unit) >= 2]
    everything = [value for unit in units for value in unit]
    n = len(everything)
    observed = sum(
        sum(a != b for i, a in enumerate(unit) for j, b in enumerate(unit) if i != j) / (len(unit) - 1)
        for unit in units
    )
    expected = sum(a != b for i, a in enumerate(everything) for j, b in enumerate(everything) if i != j)
    return None if expected == 0 else 1 - observed * (n - 1) / expected


def test_the_published_example():
    assert krippendorff_alpha(FOUR_OBSERVERS) == pytest.approx(0.743, abs=5e-4)


@given(st.integers(0, 10_000))
def test_it_is_its_definition(seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(-1, 4, (int(rng.integers(1, 6)), int(rng.integers(1, 7))))
    expected = by_pairs(labels)
    assert krippendorff_alpha(labels) == (None if expected is None else pytest.approx(expected))


def test_all_of_one_mind_and_nothing_to_agree_on():
    assert krippendorff_alpha(np.array([[0, 1, 2]] * 5)) == 1
    assert krippendorff_alpha(np.zeros((5, 3), dtype=int)) is None
    assert krippendorff_alpha(np.full((5, 3), -1)) is None
    assert krippendorff_alpha(np.empty((0, 3), dtype=int)) is None
