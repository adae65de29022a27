"""How often a model is right when it is this sure."""

from itertools import pairwise

import numpy as np
import pytest

from elimipl.cards.calibration import EDGES, ConfidenceBin, Reliability, count_reliability


def test_answers_are_counted_by_confidence():
    sure = np.array([0.93, 0.949, 0.95, 0.3, 1.0, 0.5])
    probabilities = np.stack([sure, (1 - sure) / 2, (1 - sure) / 2], axis=1)
    labels = np.array([0, 1, 0, 0, 0, 1])
    found = count_reliability(probabilities, labels, "kept-back tiles")
    counted = {(one.low, one.high): (one.n, one.right) for one in found.bins}
    assert counted == {
        (0.0, 0.5): (1, 0),
        (0.5, 0.6): (1, 0),
        (0.9, 0.95): (2, 1),
        (0.95, 0.99): (1, 1),
        (0.99, 1.0): (1, 1),
    }
    assert found.sentence(0.92) == (
        "Of its answers on kept-back tiles that were this sure (90 to 95 %), 50 % were right (n = 2)."
    )
    assert "None of its answers on kept-back tiles" in found.sentence(0.75)


@pytest.mark.parametrize("probability", [0.0, *EDGES, 1.0000000002])
def test_every_probability_has_a_bin(probability):
    bins = [ConfidenceBin(low, high, 3, 2) for low, high in pairwise(EDGES)]
    found = Reliability(tuple(bins), "tiles").bin_of(probability)
    assert found.low <= probability <= found.high + 1e-9
