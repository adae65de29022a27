"""Figure 2's statements, measured by hand on small tables."""

import numpy as np
import pytest

from elimipl.training.figure_two import (
    FigureTwo,
    four_probabilities,
    shares_of_bags,
    three_probabilities,
    widest_gap,
)


def test_probabilities_are_those_of_figure_two_and_the_false_candidates():
    p = np.random.default_rng(0).dirichlet(np.ones(5), size=4)
    candidates = np.array([True, False, True, True, False])
    three = three_probabilities(p, np.tile(candidates, (4, 1)), np.full(4, 2))
    for row, (true, candidate, wrong, other), short in zip(p, four_probabilities(p, candidates, 2), three, strict=True):
        assert true == row[2]
        assert candidate == pytest.approx((row[0] + row[2] + row[3]) / 3)
        assert wrong == pytest.approx((row[0] + row[3]) / 2)
        assert other == pytest.approx((row[1] + row[4]) / 2)
        assert 3 * candidate + 2 * other == pytest.approx(1)
        np.testing.assert_allclose(short, [true, candidate, other])
    alone = four_probabilities(p[0], np.arange(5) == 2, 2)
    assert np.isnan(alone[2])
    assert not np.isnan(alone[[0, 1, 3]]).any()


LEVEL, APART, SURE = [0.3, 0.3, 0.2, 0.2], [0.5, 0.5, 0.0, 0.0], [0.9, 0.1, 0.0, 0.0]


def shares(first, second, head="softmax"):
    """Of bags of four classes after one epoch, whose candidates are the first two, the first one true."""
    members = np.tile([True, True, False, False], (len(first), 1))
    both = [
        three_probabilities(np.array(one, float), members, np.zeros(len(one), int))[None] for one in (first, second)
    ]
    (found,) = shares_of_bags(*both, widest_gap(members.sum(axis=1), 4, head))
    return found


def test_bags_count_that_show_each_statement_and_all_of_them():
    np.testing.assert_allclose(shares([LEVEL] * 3, [SURE, SURE, LEVEL]), [2 / 3, 2 / 3, 2 / 3, 1, 2 / 3])
    np.testing.assert_allclose(shares([APART] * 3, [SURE] * 3), [1, 0, 0, 0, 0])  # apart with the first one already
    np.testing.assert_allclose(shares([LEVEL, APART], [APART, SURE]), [1, 0.5, 0.5, 0.5, 0.5])


def softmax_of_sigmoid(logits):
    energies = 1 / (1 + np.exp(-np.array(logits, float)))
    return np.exp(energies) / np.exp(energies).sum()


def test_averages_are_judged_by_what_the_head_allows():
    """With the authors' head a network that is as sure as can be has averages a few points apart: that is not close."""
    widest, level = softmax_of_sigmoid([99, 99, -99, -99]), softmax_of_sigmoid([0.2, 0.1, -0.1, 0])
    for row, close in ((widest, 0), (level, 1)):
        assert shares([row] * 3, [row] * 3, "softmax_of_sigmoid")[3] == close
    allowed = widest_gap(np.array([2]), 4, "softmax_of_sigmoid")
    np.testing.assert_allclose(allowed, widest[0] - widest[2])
    assert allowed < 0.25  # half of 1/|S|, so that by 1/|S| every training came out as close


def test_the_window_is_the_longest_stretch_in_the_median_training():
    over_epochs = np.zeros((3, 8, 5))
    for epochs in ([1], [3, 4, 5]):
        over_epochs[:2, epochs] = 0.8
    over_epochs[2] = 1.0  # one training of three does not decide
    over_epochs[:, 4, 4] = 0.7
    found = FigureTwo(over_epochs)
    assert found.window == (3, 5)
    assert found.at_the_end == 0
    assert FigureTwo(np.where(np.arange(5) == 2, 0.4, over_epochs)).window is None  # (c) is true of too few
    assert FigureTwo(np.ones((2, 4, 5))).window == (0, 3)
    assert FigureTwo(over_epochs[2:]).at_best == (0, 1.0)
