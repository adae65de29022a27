"""Figure 2's statements, measured by hand on small tables."""

from types import SimpleNamespace

import numpy as np
import pytest

from elimipl.training.figure_two import figure_two, four_probabilities, median_bag


def test_four_probabilities_are_those_of_figure_two_and_the_false_candidates():
    p = np.random.default_rng(0).dirichlet(np.ones(5), size=4)
    candidates = np.array([True, False, True, True, False])
    for row, (true, candidate, wrong, other) in zip(p, four_probabilities(p, candidates, 2), strict=True):
        assert true == row[2]
        assert candidate == pytest.approx((row[0] + row[2] + row[3]) / 3)
        assert wrong == pytest.approx((row[0] + row[3]) / 2)
        assert other == pytest.approx((row[1] + row[4]) / 2)
        assert 3 * candidate + 2 * other == pytest.approx(1)
    alone = four_probabilities(p[0], np.arange(5) == 2, 2)
    assert np.isnan(alone[2])
    assert not np.isnan(alone[[0, 1, 3]]).any()


def recorded(first, second, head="softmax"):
    """Two methods on bags of four classes, whose candidates are the first two, the first one true."""
    both = np.array([first, second], float)
    members = np.tile([True, True, False, False], (both.shape[1], 1))
    labels = np.zeros(both.shape[1], int)
    return SimpleNamespace(
        about=SimpleNamespace(configs={"A": {"head": head}, "B": {"head": head}}),
        all_probabilities=both,
        all_candidates=members,
        all_labels=labels,
        labels=labels,
        probabilities=both[:, None],
        method=("A", "B").index,
    )


LEVEL, APART, SURE = [0.3, 0.3, 0.2, 0.2], [0.5, 0.5, 0.0, 0.0], [0.9, 0.1, 0.0, 0.0]


def test_the_point_is_shown_where_most_bags_show_it():
    found = figure_two(recorded([LEVEL] * 3, [SURE, SURE, LEVEL]), "A", "B")
    assert found.shown
    assert (found.rises, found.falls) == (pytest.approx(2 / 3), pytest.approx(2 / 3))
    np.testing.assert_allclose(found.medians, [[0.3, 0.3, 0.3, 0.2], [0.9, 0.5, 0.1, 0.0]])
    np.testing.assert_allclose(found.gaps, [0.1, 0.5])
    assert found.widest == 0.5


def test_it_is_not_where_the_averages_were_apart_already_or_few_bags_gain():
    apart = figure_two(recorded([APART] * 3, [SURE] * 3), "A", "B")
    assert not apart.close
    assert not apart.shown
    assert apart.rises == 1
    few = figure_two(recorded([LEVEL] * 3, [SURE, LEVEL, LEVEL]), "A", "B")
    assert few.close
    assert not few.shown


def softmax_of_sigmoid(logits):
    energies = 1 / (1 + np.exp(-np.array(logits, float)))
    return np.exp(energies) / np.exp(energies).sum()


def test_averages_are_judged_by_what_the_head_allows():
    """With the authors' head a network that is as sure as can be has averages a few points apart: that is not close."""
    widest, level = softmax_of_sigmoid([99, 99, -99, -99]), softmax_of_sigmoid([0.2, 0.1, -0.1, 0])
    for row, close in ((widest, False), (level, True)):
        found = figure_two(recorded([row] * 3, [row] * 3, "softmax_of_sigmoid"), "A", "B")
        assert found.close is close
        assert found.widest == pytest.approx(widest[0] - widest[2])
    assert found.widest < 0.25  # half of 1/|S|, so that by 1/|S| every training came out as close


def test_the_page_opens_with_the_median_bag_not_with_the_best():
    gains = [[share, 1 - share, 0, 0] for share in (0.9, 0.5, 0.4)]
    assert median_bag(recorded([LEVEL] * 3, gains), "A", "B") == 1
