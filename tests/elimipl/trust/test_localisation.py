"""Scores against the truth about instances, by the definitions."""

import numpy as np
import pytest

from bag_generators.errors import InputError
from elimipl.trust.localisation import auroc, average_precision, evenness


@pytest.mark.parametrize("seed", range(20))
def test_auroc_counts_pairs_and_average_precision_walks_down_the_list(seed):
    rng = np.random.default_rng(seed)
    truth = rng.permutation(np.arange(15) < rng.integers(1, 14))
    scores = rng.integers(0, 6, 15) / 5  # with ties
    pairs = [1.0 if a > b else 0.5 if a == b else 0.0 for a in scores[truth] for b in scores[~truth]]
    assert auroc(truth, scores) == pytest.approx(np.mean(pairs))
    precisions = [truth[scores >= scores[i]].mean() for i in np.flatnonzero(truth)]
    assert average_precision(truth, scores) == pytest.approx(np.mean(precisions))


def test_bags_of_one_kind_are_refused():
    for measure in (auroc, average_precision):
        with pytest.raises(InputError, match="one kind"):
            measure(np.ones(3, bool), np.arange(3.0))


def test_evenness_runs_from_one_instance_to_all():
    assert evenness(np.full(7, 1 / 7)) == pytest.approx(1)
    assert evenness(np.array([1.0, 0, 0])) == 0
    assert evenness(np.array([1.0])) == 1
