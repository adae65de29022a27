"""The measurement as a whole, on bags with evidence for and against."""

import json
from dataclasses import replace

import numpy as np
import pytest

from bag_generators.errors import InputError
from elimipl import explain
from elimipl.cards.card import Card
from elimipl.dataset import BagDataset
from elimipl.trust import Trust, measure_trust
from elimipl.trust.relevance import METHODS, SetBag, log_odds, relevances, with_random_weights


@pytest.fixture(scope="module")
def found(judge_of_evidence, evidence) -> Trust:
    return measure_trust(judge_of_evidence.predictor, evidence, seed=0, most_bags=20)


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


def test_without_instance_truth_only_the_model_is_asked(judge_of_evidence, evidence):
    plain = replace(evidence.subset(range(3)), instance_truth=None)
    measured = measure_trust(judge_of_evidence.predictor, plain)
    assert (measured.located, measured.positive_share, measured.methods["attention"].auroc) == (0, None, None)
    assert measured.methods["contribution"].gain > 0


def test_bags_of_one_instance_can_t_be_ranked(judge_of_evidence, evidence):
    tiny = BagDataset.from_bags([evidence.bag(0)[:1]], evidence.label_space, [0], generator="pixels")
    with pytest.raises(InputError, match="nothing to rank"):
        measure_trust(judge_of_evidence.predictor, tiny)


def test_a_network_with_random_weights_is_another_one(judge_of_evidence, evidence):
    predictor, bag = judge_of_evidence.predictor, SetBag.of(evidence, 0)
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
