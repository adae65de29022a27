"""The recipe of the benchmark bags: sizes, positives, no needless repetition, same seed same bags."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bag_generators.errors import InputError
from elimipl.data.mixed_bags import Deck, Recipe, bag_sizes, mix_bags
from elimipl.data.sklearn_digits import RECIPE, build_digits
from elimipl.labels import LabelSpace

SMALL = Recipe(bags_per_class=4, smallest=3, largest=9, average=5.0, positive_share=0.25)


def mixed(recipe=SMALL, per_class=30, r=1, seed=0):
    """Bags of instances that carry their own number and class: targets 10, 11, 12, filling −1."""
    classes = np.repeat([10, 11, 12, -1], [per_class, per_class, per_class, 4 * per_class])
    features = np.column_stack([np.arange(len(classes)), classes]).astype(np.float32)
    space = LabelSpace.of("abc")
    return mix_bags(features, classes, (10, 11, 12), classes == -1, space, recipe, r=r, seed=seed, described={})


@pytest.mark.parametrize(
    ("count", "recipe", "instances"),
    [
        (500, Recipe(smallest=35, largest=48, average=41.33), 20664),
        (500, Recipe(smallest=36, largest=48, average=41.62), 20810),
        (1300, Recipe(smallest=25, largest=76, average=37.25), 48425),
    ],
)
def test_sizes_meet_table_1_of_the_paper(count, recipe, instances):
    sizes = bag_sizes(count, recipe)
    assert len(sizes) == count
    assert (sizes.min(), sizes.max()) == (recipe.smallest, recipe.largest)
    assert sizes.sum() == pytest.approx(instances, abs=2)


@pytest.mark.parametrize("average", [3.0, 3.4, 6.0, 8.9, 9.0])
def test_any_average_inside_the_range_is_met(average):
    sizes = bag_sizes(2000, Recipe(smallest=3, largest=9, average=average))
    assert sizes.mean() == pytest.approx(average, abs=0.02)


def test_one_size_for_all():
    assert set(bag_sizes(10, Recipe(smallest=5, largest=5, average=5))) == {5}


def test_a_bag_holds_its_class_and_otherwise_only_filling():
    dataset = mixed()
    assert len(dataset) == 12
    truths = np.split(dataset.instance_truth, dataset.offsets[1:-1])
    for i, label in enumerate(dataset.labels):
        kinds = dataset.bag(i)[:, 1]
        np.testing.assert_array_equal(kinds[truths[i]], 10 + label)
        np.testing.assert_array_equal(kinds[~truths[i]], -1)
        assert truths[i].sum() == SMALL.positives(len(kinds)) == max(1, (len(kinds) + 2) // 4)


def test_positives_are_not_always_in_front():
    first = [bool(truth[0]) for truth in np.split(*_truth_and_cuts(mixed(replace(SMALL, bags_per_class=20))))]
    assert 0 < sum(first) < len(first)


def _truth_and_cuts(dataset):
    return dataset.instance_truth, dataset.offsets[1:-1]


def test_no_instance_twice_while_there_are_enough():
    dataset = mixed()
    assert len(np.unique(dataset.instances[:, 0])) == len(dataset.instances)


def test_scarce_instances_are_shared_fairly_and_never_twice_in_a_bag():
    dataset = mixed(replace(SMALL, bags_per_class=20), per_class=4)
    for i in range(len(dataset)):
        assert len(np.unique(dataset.bag(i)[:, 0])) == dataset.sizes[i]
    numbers, uses = np.unique(dataset.instances[:, 0], return_counts=True)
    filling = uses[numbers >= 12]
    assert len(filling) == 16
    assert filling.max() - filling.min() <= 2


def test_the_seed_decides_bags_and_candidates():
    one, same, other, more = mixed(), mixed(), mixed(seed=1), mixed(r=0)
    np.testing.assert_array_equal(one.instances, same.instances)
    np.testing.assert_array_equal(one.candidates, same.candidates)
    assert not np.array_equal(one.instances, other.instances)
    np.testing.assert_array_equal(one.instances, more.instances)  # r changes the labels only
    assert (more.candidates.sum(axis=1) == 1).all()


def test_the_settings_travel_with_the_data():
    assert mixed(r=1, seed=7).params == {
        "bags_per_class": 4,
        "smallest": 3,
        "largest": 9,
        "average": 5.0,
        "positive_share": 0.25,
        "r": 1,
        "seed": 7,
    }


@given(st.integers(1, 9), st.lists(st.integers(0, 25), max_size=8), st.integers(0, 99))
def test_a_deck_repeats_only_when_it_must(cards, hands, seed):
    deck = Deck(np.arange(cards), "", np.random.default_rng(seed))
    for count in hands:
        hand = deck.deal(count)
        assert len(hand) == count
        assert len(np.unique(hand)) == min(count, cards)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"bags_per_class": 0}, "at least one"),
        ({"smallest": 0}, "at least 1"),
        ({"average": 50.0}, "can't average 50"),
        ({"positive_share": 0.0}, "above 0"),
        ({"positive_share": 1.1}, "up to 1"),
    ],
)
def test_impossible_recipes_are_refused(change, sentence):
    with pytest.raises(InputError, match=sentence):
        replace(SMALL, **change)


def test_a_missing_class_is_named():
    with pytest.raises(InputError, match="no instance of the class “c”"):
        mix_bags(
            np.ones((3, 1), dtype=np.float32),
            np.array([0, 1, 5]),
            (0, 1, 2),
            np.array([False, False, True]),
            LabelSpace.of("abc"),
            SMALL,
            r=1,
            seed=0,
            described={},
        )


def test_sklearn_digits_make_teaching_bags():
    dataset = build_digits(r=3)
    assert (len(dataset), dataset.dim, dataset.n_classes) == (100, 64, 5)
    np.testing.assert_array_equal(np.bincount(dataset.labels), 20)
    assert (dataset.candidates.sum(axis=1) == 4).all()
    assert (dataset.instances.min(), dataset.instances.max()) == (0.0, 1.0)
    assert len(np.unique(dataset.instances, axis=0)) == len(dataset.instances)
    assert len(build_digits(recipe=replace(RECIPE, bags_per_class=3))) == 15
