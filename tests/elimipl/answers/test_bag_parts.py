"""Parts of a bag: the same answers as bags of their own, in blocks, at the size of a large picture."""

import time

import numpy as np
import pytest

from bag_generators import Bag
from bag_generators.base.errors import InputError
from bag_generators.generators.deep import blocks_of as blocks_of_grid
from elimipl.answers import bag_parts
from elimipl.answers.bag_parts import BagParts, blocks_of
from elimipl.answers.predictor import FeatureBag, Predictor
from elimipl.answers.trust import flipping_curve, smallest_flip
from tests.elimipl.toy_bags import bag_of

BLOCKS = np.array([0, 2, 2, 1, 1, 1, 3, 0])


@pytest.fixture(params=[7, 4_000_000], ids=["in pieces", "at once"])
def parts(request: pytest.FixtureRequest, predictor: Predictor, toy_bag: Bag, monkeypatch) -> BagParts:
    monkeypatch.setattr(bag_parts, "_MARKS_AT_ONCE", request.param)
    monkeypatch.setattr(bag_parts, "_ROWS_AT_ONCE", request.param)
    return BagParts(predictor, bag_of(toy_bag.features, toy_bag, BLOCKS))


def alone(predictor: Predictor, bag: Bag, kept: np.ndarray) -> np.ndarray:
    return predictor.predict_features(bag.features[kept]).probabilities


def test_parts_are_predicted_as_bags_of_their_own(parts, predictor, toy_bag):
    kept = np.random.default_rng(0).random((12, 4)) < 0.5
    kept[:, 0] |= ~kept.any(axis=1)
    expected = [alone(predictor, toy_bag, np.flatnonzero(row[BLOCKS])) for row in kept]
    np.testing.assert_allclose(parts.probabilities(kept), expected, atol=1e-12)


def test_without_each_is_a_loop_over_blocks(parts, predictor, toy_bag):
    expected = [alone(predictor, toy_bag, np.flatnonzero(block != BLOCKS)) for block in range(4)]
    np.testing.assert_allclose(parts.without_each(), expected, atol=1e-12)


def test_along_an_order_ever_fewer_blocks_stay(parts, predictor, toy_bag):
    orders, steps = np.array([[3, 1, 0, 2], [0, 1, 2, 3]]), np.array([0, 2, 3])
    expected = [
        [alone(predictor, toy_bag, np.flatnonzero(~np.isin(BLOCKS, order[:step]))) for step in steps]
        for order in orders
    ]
    np.testing.assert_allclose(parts.along(orders, steps), expected, atol=1e-12)


def test_blocks_have_instances_and_means(toy_predictor, toy_bag):
    parts = BagParts(toy_predictor, toy_bag, BLOCKS)
    assert len(parts) == 4
    assert parts.instances([1, 3]).tolist() == [3, 4, 5, 6]
    scores = np.arange(8.0)
    np.testing.assert_allclose(parts.means(scores), [3.5, 4, 1.5, 6])
    np.testing.assert_allclose(parts.means(np.stack([scores, -scores], 1)), [[v, -v] for v in (3.5, 4, 1.5, 6)])


def test_instances_without_regions_are_blocks_of_their_own(toy_bag):
    assert blocks_of(toy_bag).tolist() == list(range(8))
    assert blocks_of(FeatureBag(toy_bag.features, "row", toy_bag.params)).tolist() == list(range(8))
    assert blocks_of(bag_of(toy_bag.features, toy_bag, BLOCKS)).tolist() == BLOCKS.tolist()


@pytest.mark.parametrize("kept", [np.zeros((1, 8), bool), np.ones((2, 5), bool), np.ones(8, bool)])
def test_marks_that_make_no_part_are_refused(toy_predictor, toy_bag, kept):
    with pytest.raises(InputError, match="don't make parts of a bag of 8 blocks"):
        BagParts(toy_predictor, toy_bag).probabilities(kept)


def test_the_cells_of_a_large_picture_are_asked_about_in_seconds(toy_predictor, toy_bag):
    """65,536 cells: masks of single cells would take 4 GB, and a minute each time."""
    rng = np.random.default_rng(0)
    features = toy_bag.features[rng.integers(0, 8, 65_536)] + rng.normal(0, 0.5, (65_536, toy_bag.features.shape[1]))
    bag = bag_of(features, toy_bag, blocks_of_grid((256, 256), 3584, 3584))
    began = time.process_time()
    prediction = toy_predictor.predict(bag)
    curve = flipping_curve(toy_predictor, bag, prediction.attention, prediction.index)
    smallest_flip(toy_predictor, bag)
    assert curve.removed[-1] == 64 * 64 - 1
    assert time.process_time() - began < 20
