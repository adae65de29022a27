"""Contributions of instances: literal references, axioms and the cases at the edge."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from bag_generators import Bag
from bag_generators.errors import InputError
from bag_generators.regions import BoxRegions
from elimipl import explain
from elimipl.config import Config
from elimipl.explain import (
    contribution,
    integrated_gradients,
    leave_one_out,
    of_parts,
    rank_agreement,
    single,
    without_instances,
)
from elimipl.predictor import Predictor
from elimipl.training.loop import fit


def bag_of(features, like):
    """A bag of any features that claims to come from where `like` comes from."""
    n = len(features)
    boxes = np.stack([np.arange(n), np.zeros(n), np.arange(n) + 1, np.ones(n)], axis=1).astype(int)
    return Bag(
        np.array(features, np.float32), BoxRegions(boxes, (1, n)), like.generator, like.params, like.feature_names, ""
    )


def average_bag(predictor, n):
    return np.tile(predictor.scaler.shift, (n, 1))


@pytest.fixture(params=["paper", "published", "default", "context"])
def predictor(request, toy_dataset, toy_card):
    """A model of each head and gate; the temperature stays that of the toy model unless the head needs its own."""
    preset, extractor = ("default", "context") if request.param == "context" else (request.param, "identity")
    lr = Config.preset(preset).lr
    config = Config.preset(preset, hidden=16, epochs=3, batch=8, lr=lr, seed=1, extractor=extractor)
    fitted = fit(toy_dataset, config, device="cpu")
    cold = replace(toy_card.calibration, temperature=0.2 if request.param == "published" else 1.5)
    return Predictor.from_fitted(fitted, replace(toy_card, calibration=cold))


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


def test_leave_one_out_in_parts_is_the_same(predictor, toy_bag, monkeypatch):
    expected = leave_one_out(predictor, toy_bag)
    monkeypatch.setattr(explain, "_ROWS_AT_ONCE", 20)
    monkeypatch.setattr(explain, "_CELLS_AT_ONCE", 20)
    np.testing.assert_allclose(leave_one_out(predictor, toy_bag), expected, atol=1e-12)


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


def test_parts_of_a_bag_are_predicted_as_bags_of_their_own(predictor, toy_bag):
    kept = np.random.default_rng(0).random((12, len(toy_bag))) < 0.5
    kept[:, 0] |= ~kept.any(axis=1)
    expected = [predictor.predict_features(toy_bag.features[row]).probabilities for row in kept]
    np.testing.assert_allclose(of_parts(predictor, toy_bag, kept), expected, atol=1e-12)


@pytest.mark.parametrize("kept", [np.zeros((1, 8), bool), np.ones((2, 5), bool), np.ones(8, bool)])
def test_marks_that_make_no_part_are_refused(toy_predictor, toy_bag, kept):
    with pytest.raises(InputError, match="don't make parts of a bag of 8 instances"):
        of_parts(toy_predictor, toy_bag, kept)


def test_without_its_only_instance_a_bag_says_nothing(toy_predictor, toy_bag):
    single = bag_of(toy_bag.features[:1], toy_bag)
    expected = toy_predictor.predict(single).probabilities - 1 / 3
    np.testing.assert_allclose(leave_one_out(toy_predictor, single), expected[None], atol=1e-12)


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


def test_an_average_instance_contributes_nothing(toy_predictor, toy_bag):
    features = toy_bag.features.astype(np.float64)
    features[2] = toy_predictor.scaler.shift
    found = integrated_gradients(toy_predictor, bag_of(features, toy_bag))
    np.testing.assert_allclose(found[2], 0, atol=1e-5)


@pytest.mark.parametrize("measure", [leave_one_out, integrated_gradients])
def test_contributions_follow_their_instances(measure, toy_predictor, toy_bag):
    order = np.random.default_rng(0).permutation(len(toy_bag))
    shuffled = bag_of(toy_bag.features[order], toy_bag)
    np.testing.assert_allclose(measure(toy_predictor, shuffled), measure(toy_predictor, toy_bag)[order], atol=1e-10)


def test_explaining_leaves_no_gradients_behind(toy_predictor, toy_bag):
    integrated_gradients(toy_predictor, toy_bag)
    assert all(parameter.grad is None for parameter in toy_predictor.network.parameters())


@pytest.mark.parametrize("measure", [leave_one_out, integrated_gradients])
def test_a_bag_of_another_generator_is_refused(measure, toy_predictor, toy_bag):
    with pytest.raises(InputError, match="“sbn”"):
        measure(toy_predictor, replace(toy_bag, generator="sbn"))


def test_a_path_needs_a_step(toy_predictor, toy_bag):
    with pytest.raises(InputError, match="0 steps"):
        integrated_gradients(toy_predictor, toy_bag, steps=0)


def test_what_if_equals_a_fresh_bag(toy_predictor, toy_bag):
    found = without_instances(toy_predictor, toy_bag, {1, 4})
    fresh = toy_predictor.predict(bag_of(np.delete(toy_bag.features, [1, 4], axis=0), toy_bag))
    np.testing.assert_array_equal(found.probabilities, fresh.probabilities)
    np.testing.assert_array_equal(found.attention, fresh.attention)
    whole = without_instances(toy_predictor, toy_bag, [])
    np.testing.assert_array_equal(whole.raw, toy_predictor.predict(toy_bag).raw)


@pytest.mark.parametrize(
    ("removed", "said"), [(range(8), "Nothing would be left"), ([8], "no instance 8"), ([-1], "no instance -1")]
)
def test_what_can_not_be_removed(toy_predictor, toy_bag, removed, said):
    with pytest.raises(InputError, match=said):
        without_instances(toy_predictor, toy_bag, removed)


@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=2, max_size=12))
def test_rank_agreement_is_spearmans(pairs):
    a, b = np.array(pairs, float).T
    found = rank_agreement(a, b)
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        assert found is None
    else:
        assert found == pytest.approx(spearmanr(a, b).statistic, abs=1e-12)


@pytest.mark.parametrize(("a", "b"), [([], []), ([1], [2]), ([1, 1, 1], [1, 2, 3]), ([1, 2], [np.nan, 1])])
def test_no_agreement_where_there_is_none(a, b):
    assert rank_agreement(a, b) is None


def test_scores_of_different_instances_are_not_compared():
    with pytest.raises(InputError, match="can't be compared"):
        rank_agreement([1, 2], [1, 2, 3])
