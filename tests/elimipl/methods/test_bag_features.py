"""Mean and MaxMin against loops over the bags."""

import numpy as np

from elimipl.methods.bag_features import FEATURES, BagScaler
from tests.elimipl.methods.separable_bags import constant_features, one_instance_bags, separable_bags


def test_features_equal_loops_over_the_bags():
    for bags in (separable_bags(30), one_instance_bags()):
        each = [np.asarray(bags.bag(i), np.float64) for i in range(len(bags))]
        np.testing.assert_allclose(FEATURES["mean"](bags), [bag.mean(0) for bag in each], atol=1e-6)
        expected = [np.concatenate([bag.max(0), bag.min(0)]) for bag in each]
        np.testing.assert_array_equal(FEATURES["maxmin"](bags), expected)


def test_statistics_are_those_of_the_training_bags():
    train, test = separable_bags(40), separable_bags(8, seed=2)
    scaler, features = BagScaler.learn(train, "maxmin")
    np.testing.assert_allclose(features.mean(0), 0, atol=1e-9)
    np.testing.assert_allclose(features.std(0), 1, atol=1e-9)
    raw = FEATURES["maxmin"](train)
    expected = (FEATURES["maxmin"](test) - raw.mean(0)) / raw.std(0)
    np.testing.assert_allclose(scaler.transform(test), expected)


def test_a_feature_that_never_varies_becomes_zero():
    _, features = BagScaler.learn(constant_features(), "mean")
    np.testing.assert_array_equal(features, 0)
