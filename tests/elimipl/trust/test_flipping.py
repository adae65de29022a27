"""Flipping: the literal loop, orders with ties, and the interval over bags."""

import numpy as np
import pytest

from elimipl.bag_parts import BagParts
from elimipl.trust.flipping import areas, curves, interval, removal_order


def test_curves_are_a_loop_over_bags_with_ever_fewer_instances(toy_predictor, toy_bag):
    orders = np.array([np.random.default_rng(seed).permutation(8) for seed in range(5)])
    expected = []
    for order in orders:
        left = [toy_bag.features[np.sort(order[removed:])] for removed in range(8)]
        expected.append([toy_predictor.predict_features(features).probabilities[1] for features in left])
    parts = BagParts(toy_predictor, toy_bag)
    np.testing.assert_allclose(curves(parts, orders, 1), expected, atol=1e-12)
    np.testing.assert_allclose(areas(parts, orders, 1), np.mean(expected, axis=1), atol=1e-12)


def test_the_most_relevant_goes_first_and_ties_are_not_decided_by_position():
    assert removal_order(np.array([0.1, 0.7, 0.2]), np.random.default_rng(0)).tolist() == [1, 2, 0]
    firsts = {removal_order(np.zeros(4), np.random.default_rng(seed))[0] for seed in range(40)}
    assert firsts == {0, 1, 2, 3}


def test_the_interval_is_that_of_a_mean():
    values = np.random.default_rng(0).normal(3, 2, 400)
    low, high = interval(values, np.random.default_rng(1))
    half = 1.96 * values.std() / 20
    assert (low, high) == pytest.approx((values.mean() - half, values.mean() + half), abs=0.04)
