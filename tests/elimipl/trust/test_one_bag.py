"""Taking instances away: the curve agrees with predictions one by one, and the set that flips does flip."""

from dataclasses import replace

import numpy as np
import pytest

from bag_generators import TissueImage, generate
from bag_generators.regions import BoxRegions
from bag_generators.tissue import phantom
from elimipl.explain import contribution, without_instances
from elimipl.predictor import Predictor
from elimipl.trust.one_bag import flipping_curve, smallest_flip


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


def test_some_answer_flips():
    predictor = Predictor.load("tissue7-sift-elimipl")
    bags = [drawn_bag(predictor, "TUM", s) for s in range(6)]
    assert any(smallest_flip(predictor, bag) for bag in bags)


def test_an_order_that_names_the_best_first_is_faster_than_chance():
    predictor = Predictor.load("tissue7-sift-elimipl")
    bag = drawn_bag(predictor, "TUM", 1)
    index = predictor.predict(bag).index
    best = flipping_curve(predictor, bag, contribution(predictor, bag)[:, index], index)
    worst = flipping_curve(predictor, bag, -contribution(predictor, bag)[:, index], index)
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
