"""Explanations against the truth and the model: by the definitions, and on bags with evidence for and against."""

import json
from dataclasses import replace

import numpy as np
import pytest

from bag_generators import TissueImage, generate
from bag_generators.base.errors import InputError
from bag_generators.regions import BoxRegions
from bag_generators.tissue import phantom
from elimipl.answers import explain
from elimipl.answers.bag_parts import BagParts
from elimipl.answers.explain import contribution, without_instances
from elimipl.answers.predictor import FeatureBag, Predictor
from elimipl.answers.trust import (
    METHODS,
    Trust,
    areas,
    auroc,
    average_precision,
    evenness,
    flipping_curve,
    interval,
    log_odds,
    measure_trust,
    relevances,
    removal_order,
    smallest_flip,
    with_random_weights,
)
from elimipl.cards.card import Card
from elimipl.datasets.dataset import BagDataset


def test_areas_are_a_loop_over_bags_with_ever_fewer_instances(toy_predictor, toy_bag):
    orders = np.array([np.random.default_rng(seed).permutation(8) for seed in range(5)])
    expected = []
    for order in orders:
        left = [toy_bag.features[np.sort(order[removed:])] for removed in range(8)]
        expected.append(np.mean([toy_predictor.predict_features(features).probabilities[1] for features in left]))
    np.testing.assert_allclose(areas(BagParts(toy_predictor, toy_bag), orders, 1), expected, atol=1e-12)


def test_the_most_relevant_goes_first_and_ties_are_not_decided_by_position():
    assert removal_order(np.array([0.1, 0.7, 0.2]), np.random.default_rng(0)).tolist() == [1, 2, 0]
    firsts = {removal_order(np.zeros(4), np.random.default_rng(seed))[0] for seed in range(40)}
    assert firsts == {0, 1, 2, 3}


def test_the_interval_is_that_of_a_mean_and_evenness_runs_from_one_instance_to_all():
    values = np.random.default_rng(0).normal(3, 2, 400)
    half = 1.96 * values.std() / 20
    expected = pytest.approx((values.mean() - half, values.mean() + half), abs=0.04)
    assert interval(values, np.random.default_rng(1)) == expected
    assert [evenness(np.array(one)) for one in ([1 / 7] * 7, [1.0, 0, 0], [1.0])] == pytest.approx([1, 0, 1])


def test_auroc_counts_pairs_and_average_precision_walks_down_the_list():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        truth = rng.permutation(np.arange(15) < rng.integers(1, 14))
        scores = rng.integers(0, 6, 15) / 5  # with ties
        pairs = [1.0 if a > b else 0.5 if a == b else 0.0 for a in scores[truth] for b in scores[~truth]]
        assert auroc(truth, scores) == pytest.approx(np.mean(pairs))
        precisions = [truth[scores >= scores[i]].mean() for i in np.flatnonzero(truth)]
        assert average_precision(truth, scores) == pytest.approx(np.mean(precisions))
    assert auroc(np.ones(3, bool), np.arange(3.0)) is None


@pytest.fixture(scope="module")
def found(judge_of_evidence, evidence) -> Trust:
    return measure_trust(judge_of_evidence.predictor, evidence.subset(range(20)), seed=0)


def test_attention_alone_ranks_worse_where_evidence_speaks_against(found, judge_of_evidence):
    """It looks at both kinds of evidence; only methods with a sign know which way an instance speaks."""
    assert judge_of_evidence.card.accuracy.value > 0.95
    areas = {name: found.methods[name].area for name in METHODS}
    for name in ("contribution", "leave_one_out", "integrated_gradients"):
        assert areas[name] < areas["attention"] - 0.2
        assert found.methods[name].gain_low > found.methods["attention"].gain_high
    assert found.methods["contribution"].auroc > found.methods["attention"].auroc
    assert found.methods["contribution"].agreement > found.methods["attention"].agreement + 0.3
    assert found.methods["leave_one_out"].agreement == pytest.approx(1)


def test_networks_that_have_learned_nothing_come_out_at_chance(found):
    for name in METHODS:
        chance, learned = found.random_weights[name], found.methods[name]
        assert abs(chance.auroc - 0.5) < 0.15
        assert abs(chance.gain) < 0.12
        assert abs(chance.agreement) < 0.2
        assert learned.gain > chance.gain + 0.1


def test_numbers_are_averages_over_bags(found, judge_of_evidence, evidence):
    predictor = judge_of_evidence.predictor
    assert (found.bags, found.located, found.on, found.seed) == (20, 20, "digits of scikit-learn", 0)
    assert found.methods["single"].gain == pytest.approx(found.random_area - found.methods["single"].area)
    everything = measure_trust(predictor, evidence.subset(range(3)))
    looked = [predictor.predict_features(evidence.bag(i)).attention for i in range(3)]
    even = [-(attention * np.log(attention)).sum() / np.log(12) for attention in looked]
    assert everything.evenness == pytest.approx(np.mean(even))
    assert measure_trust(predictor, evidence.subset(range(3))) == everything


def test_without_instance_truth_only_the_model_is_asked_and_of_single_instances_nothing(judge_of_evidence, evidence):
    plain = replace(evidence.subset(range(3)), instance_truth=None)
    measured = measure_trust(judge_of_evidence.predictor, plain)
    assert (measured.located, measured.positive_share, measured.methods["attention"].auroc) == (0, None, None)
    assert measured.methods["contribution"].gain > 0
    tiny = BagDataset.from_bags([evidence.bag(0)[:1]], evidence.label_space, [0], generator="pixels")
    with pytest.raises(InputError, match="nothing to rank"):
        measure_trust(judge_of_evidence.predictor, tiny)


def test_a_network_with_random_weights_is_another_one(judge_of_evidence, evidence):
    predictor, bag = judge_of_evidence.predictor, FeatureBag(evidence.bag(0), evidence.generator, evidence.params)
    first, second = (relevances(with_random_weights(predictor, seed), bag, 0)["contribution"] for seed in (1, 2))
    assert np.abs(first - second).max() > 1e-4
    assert np.abs(first - relevances(predictor, bag, 0)["contribution"]).max() > 1e-4


def test_rankings_have_the_order_of_the_explanations(toy_predictor, toy_bag):
    scores = relevances(toy_predictor, toy_bag, 1)
    for name in ("single", "leave_one_out"):
        explained = getattr(explain, name)(toy_predictor, toy_bag)[:, 1]
        np.testing.assert_array_equal(np.argsort(scores[name]), np.argsort(explained))


def test_odds_are_resolved_where_probabilities_are_one():
    probabilities = np.array([[1.0, 1e-30], [1.0, 1e-40], [0.25, 0.75]])
    assert log_odds(probabilities, 0) == pytest.approx([30 * np.log(10), 40 * np.log(10), -np.log(3)])


def test_trust_comes_back_from_the_card(found, judge_of_evidence):
    card = judge_of_evidence.with_trust(found).card
    assert Card.from_dict(json.loads(json.dumps(card.to_dict()))) == card
    assert card.trust == found
    assert judge_of_evidence.card.trust is None


def drawn_bag(predictor: Predictor, tissue: str, seed: int):
    image = TissueImage.from_array(phantom.draw(tissue, seed=seed).pixels)
    return generate(predictor.card.generator, image, **predictor.card.generator_params)


@pytest.fixture(scope="module", params=["row", "sift"])
def case(request):
    predictor = Predictor.load(f"tissue7-{request.param}-elimipl")
    return predictor, drawn_bag(predictor, "NORM", 5)


def test_the_curve_is_the_prediction_without_the_highest(case):
    predictor, bag = case
    index = predictor.predict(bag).index
    scores = contribution(predictor, bag)[:, index]
    curve = flipping_curve(predictor, bag, scores, index)
    order = np.argsort(-scores, kind="stable")
    for removed, probability, by_chance in zip(curve.removed, curve.by_score, curve.by_chance, strict=True):
        expected = without_instances(predictor, bag, order[:removed].tolist()).probabilities[index]
        assert probability == pytest.approx(expected, abs=1e-9)
        assert 0 <= by_chance <= 1
    assert curve.removed[0] == 0
    assert curve.removed[-1] == len(bag) - 1
    again = flipping_curve(predictor, bag, scores, index)
    np.testing.assert_array_equal(again.by_chance, curve.by_chance)


def test_the_set_flips_the_label_and_needs_all_its_members(case):
    predictor, bag = case
    first = predictor.predict(bag).index
    removed = smallest_flip(predictor, bag)
    if removed is None:
        pytest.skip("no set flips this answer")
    assert without_instances(predictor, bag, removed).index != first
    for member in removed:
        fewer = [one for one in removed if one != member]
        assert not fewer or without_instances(predictor, bag, fewer).index == first


def test_an_order_that_names_the_best_first_is_faster_than_chance():
    predictor = Predictor.load("tissue7-sift-elimipl")
    bag = drawn_bag(predictor, "TUM", 1)
    index = predictor.predict(bag).index
    scores = contribution(predictor, bag)[:, index]
    best, worst = (flipping_curve(predictor, bag, one, index) for one in (scores, -scores))
    assert best.by_score.mean() < worst.by_score.mean()
    np.testing.assert_array_equal(best.by_chance, worst.by_chance)


def test_what_goes_is_a_block_at_a_time():
    predictor = Predictor.load("tissue7-sift-elimipl")
    bag = next(bag for bag in (drawn_bag(predictor, "TUM", s) for s in range(6)) if smallest_flip(predictor, bag))
    blocks = np.arange(25) // 5
    regions = BoxRegions(bag.regions.boxes, bag.regions.shape, blocks)
    in_rows = replace(bag, regions=regions)
    index = predictor.predict(bag).index
    scores = contribution(predictor, bag)[:, index]
    curve = flipping_curve(predictor, in_rows, scores, index)
    order = np.argsort(-scores.reshape(5, 5).mean(axis=1))
    for gone, probability in zip(curve.removed, curve.by_score, strict=True):
        rest = without_instances(predictor, bag, np.flatnonzero(np.isin(blocks, order[:gone])).tolist())
        assert probability == pytest.approx(rest.probabilities[index], abs=1e-9)
    assert curve.removed.tolist() == [0, 1, 2, 3, 4]
    if (removed := smallest_flip(predictor, in_rows)) is not None:
        gone = np.unique(blocks[list(removed)])
        assert len(removed) == 5 * len(gone)
        assert without_instances(predictor, bag, removed).index != index
