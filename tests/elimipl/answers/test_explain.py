"""Contributions of instances: literal references, axioms and the cases at the edge."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from bag_generators.base.errors import InputError
from elimipl.answers.explain import (
    contribution,
    first_map,
    integrated_gradients,
    kept_alone,
    leave_one_out,
    rank_agreement,
    single,
    without_instances,
)
from elimipl.cards.card import FirstMap
from tests.elimipl.toy_bags import bag_of


def average_bag(predictor, n):
    return np.tile(predictor.scaler.shift, (n, 1))


def test_leave_one_out_is_a_loop_over_bags_without_one_instance(predictor, toy_bag):
    whole = predictor.predict_features(toy_bag.features).probabilities
    expected = [
        whole - predictor.predict_features(np.delete(toy_bag.features, j, axis=0)).probabilities
        for j in range(len(toy_bag))
    ]
    found = leave_one_out(predictor, toy_bag)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert np.abs(found).max() > 1e-4
    np.testing.assert_allclose(found.sum(axis=1), 0, atol=1e-12)
    only = bag_of(toy_bag.features[:1], toy_bag)  # without it the bag says nothing
    expected = predictor.predict(only).probabilities - 1 / 3
    np.testing.assert_allclose(leave_one_out(predictor, only), expected[None], atol=1e-12)


def test_a_block_is_left_out_as_a_whole(predictor, toy_bag):
    blocks = np.array([0, 0, 1, 1, 1, 2, 2, 2])
    whole = predictor.predict_features(toy_bag.features).probabilities
    rest = [predictor.predict_features(toy_bag.features[blocks != block]).probabilities for block in blocks]
    found = leave_one_out(predictor, bag_of(toy_bag.features, toy_bag, blocks))
    np.testing.assert_allclose(found, whole - rest, atol=1e-12)
    np.testing.assert_array_equal(leave_one_out(predictor, toy_bag, blocks), found)
    alone = leave_one_out(predictor, bag_of(toy_bag.features, toy_bag, blocks), np.arange(8))
    np.testing.assert_allclose(alone, leave_one_out(predictor, toy_bag), atol=1e-12)


def with_first_map(predictor, name):
    measured = FirstMap(name, 0.9, 0.6, 0.5, 10, "val", "train", {})
    return predictor.with_card(replace(predictor.card, first_map=measured))


def test_the_first_map_is_the_one_on_the_card(predictor, toy_bag):
    prediction = predictor.predict(toy_bag)
    answer, attention = prediction.index, prediction.attention
    found = {
        name: first_map(with_first_map(predictor, name), toy_bag)
        for name in ("attention", "vote", "contribution", "attention of the answer")
    }
    np.testing.assert_allclose(found["attention"], attention, atol=1e-12)
    np.testing.assert_allclose(found["contribution"], contribution(predictor, toy_bag)[:, answer], atol=1e-12)
    np.testing.assert_allclose(found["attention of the answer"], attention * found["vote"], atol=1e-12)
    np.testing.assert_array_equal(first_map(predictor, toy_bag), found["attention"])
    if predictor.network.is_local:
        uncalibrated = predictor.with_card(replace(predictor.card, calibration=None))
        np.testing.assert_allclose(found["vote"], single(uncalibrated, toy_bag)[:, answer], atol=1e-12)


def test_a_quarter_kept_alone_is_a_bag_of_its_own(predictor, toy_bag):
    scores = np.array([5.0, 1, 8, 2, 7, 3, 6, 4])
    prediction = predictor.predict(toy_bag)
    most, least = (predictor.predict_features(toy_bag.features[kept]) for kept in ([2, 4], [1, 3]))
    found = kept_alone(predictor, toy_bag, scores)
    expected = [said.probabilities[prediction.index] for said in (prediction, most, least)]
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert kept_alone(predictor, toy_bag, scores, 1.0) == pytest.approx([prediction.probability] * 3)
    one = kept_alone(predictor, toy_bag, scores, 0.01).most
    assert one == pytest.approx(predictor.predict_features(toy_bag.features[2:3]).probabilities[prediction.index])


def test_contributions_add_up_to_the_logits(predictor, toy_bag):
    """Each is the attention times what the classifier says of the embedding (eq. 4)."""
    network = predictor.network
    x = torch.from_numpy(predictor.scaler.transform(toy_bag.features))
    together = torch.zeros(len(x), dtype=torch.int64)
    with torch.no_grad():
        outputs = network(x, together, 1)
        h = network.embed(network._extract(x, together, 1)).relu()
        expected = [
            [float(outputs.attention[j] * network.classifier(h[j])[c]) for c in range(3)] for j in range(len(x))
        ]
    found = contribution(predictor, toy_bag)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    np.testing.assert_allclose(found.sum(axis=0), outputs.logits[0], atol=1e-12)
    assert np.abs(found).max() > 1e-3


def test_single_is_a_loop_over_bags_of_one_instance(predictor, toy_bag):
    expected = [predictor.predict_features(row[None]).probabilities for row in toy_bag.features]
    np.testing.assert_allclose(single(predictor, toy_bag), expected, atol=1e-12)


@pytest.mark.parametrize("n", [1, 2, 8])
def test_integrated_gradients_account_for_the_whole_difference(predictor, toy_bag, n):
    bag = bag_of(toy_bag.features[:n], toy_bag)
    whole = predictor.predict(bag).probabilities
    start = predictor.predict_features(average_bag(predictor, n)).probabilities
    found = integrated_gradients(predictor, bag, steps=256)
    assert found.shape == (n, 3)
    np.testing.assert_allclose(found.sum(axis=0), whole - start, atol=1e-3)
    assert np.abs(whole - start).max() > 0.01
    np.testing.assert_allclose(integrated_gradients(predictor, bag, 256, [2, 0]), found[:, [2, 0]], atol=1e-12)


def test_integrated_gradients_are_a_sum_of_slopes_along_the_path(toy_predictor, toy_bag):
    """Against central differences of the public prediction, with the same nodes."""
    bag, steps, h = bag_of(toy_bag.features[:3], toy_bag), 4, 1e-4
    start, (n, d) = average_bag(toy_predictor, 3), (3, toy_bag.features.shape[1])
    nodes, weights = np.polynomial.legendre.leggauss(steps)
    expected = np.zeros((n, 3))
    for node, weight in zip(nodes, weights, strict=True):
        at = start + (node + 1) / 2 * (bag.features - start)
        for j in range(n):
            for feature in range(d):
                step = np.zeros((n, d))
                step[j, feature] = h * toy_predictor.scaler.scale[feature]
                sizes = np.array([n, n])
                up, down = toy_predictor.probabilities(np.concatenate([at + step, at - step]), sizes)
                slope = (up - down) / (2 * step[j, feature])
                expected[j] += weight / 2 * slope * (bag.features[j, feature] - start[j, feature])
    np.testing.assert_allclose(integrated_gradients(toy_predictor, bag, steps=steps), expected, atol=1e-5)


def test_an_average_instance_contributes_nothing_and_no_gradients_stay_behind(toy_predictor, toy_bag):
    features = toy_bag.features.astype(np.float64)
    features[2] = toy_predictor.scaler.shift
    found = integrated_gradients(toy_predictor, bag_of(features, toy_bag))
    np.testing.assert_allclose(found[2], 0, atol=1e-5)
    assert all(parameter.grad is None for parameter in toy_predictor.network.parameters())


@pytest.mark.parametrize("measure", [leave_one_out, integrated_gradients])
def test_contributions_follow_their_instances(measure, toy_predictor, toy_bag):
    order = np.random.default_rng(0).permutation(len(toy_bag))
    shuffled = bag_of(toy_bag.features[order], toy_bag)
    np.testing.assert_allclose(measure(toy_predictor, shuffled), measure(toy_predictor, toy_bag)[order], atol=1e-10)
    with pytest.raises(InputError, match="“sbn”"):
        measure(toy_predictor, replace(toy_bag, generator="sbn"))


def test_what_if_equals_a_fresh_bag(toy_predictor, toy_bag):
    found = without_instances(toy_predictor, toy_bag, {1, 4})
    fresh = toy_predictor.predict(bag_of(np.delete(toy_bag.features, [1, 4], axis=0), toy_bag))
    np.testing.assert_array_equal(found.probabilities, fresh.probabilities)
    np.testing.assert_array_equal(found.attention, fresh.attention)
    whole = without_instances(toy_predictor, toy_bag, [])
    np.testing.assert_array_equal(whole.raw, toy_predictor.predict(toy_bag).raw)


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (partial(without_instances, removed=range(8)), "Nothing would be left"),
        (partial(without_instances, removed=[8]), "no instance 8"),
        (partial(without_instances, removed=[-1]), "no instance -1"),
        (partial(kept_alone, scores=np.ones(8), share=0.0), "can't be kept of 8 instances"),
        (partial(kept_alone, scores=np.ones(8), share=1.5), "can't be kept of 8 instances"),
        (partial(kept_alone, scores=np.ones(7)), "can't be kept of 8 instances"),
        (partial(integrated_gradients, steps=0), "0 steps"),
    ],
)
def test_what_can_not_be_done_to_a_bag(toy_predictor, toy_bag, ask, said):
    with pytest.raises(InputError, match=said):
        ask(toy_predictor, toy_bag)


@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=2, max_size=12))
def test_rank_agreement_is_spearmans(pairs):
    a, b = np.array(pairs, float).T
    found = rank_agreement(a, b)
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        assert found is None
    else:
        assert found == pytest.approx(spearmanr(a, b).statistic, abs=1e-12)


def test_no_agreement_where_there_is_none():
    for a, b in (([], []), ([1], [2]), ([1, 1, 1], [1, 2, 3]), ([1, 2], [np.nan, 1])):
        assert rank_agreement(a, b) is None
    with pytest.raises(InputError, match="can't be compared"):
        rank_agreement([1, 2], [1, 2, 3])
