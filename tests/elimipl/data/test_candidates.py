"""Candidate sets for a training: drawn per source picture, whoever asks."""

from dataclasses import replace

import numpy as np
import pytest

from bag_generators.errors import InputError
from elimipl.data.crowd import Candidates, simulate, uniform_false_positives
from elimipl.dataset import BagDataset
from elimipl.labels import TISSUE7

LABELS = np.arange(30) % 7


@pytest.fixture
def copies() -> BagDataset:
    """Thirty pictures and three copies of each, the copies of a picture next to each other."""
    features = [np.full((2, 3), i, np.float32) for i in range(120)]
    groups = np.repeat(np.arange(30), 4)
    return BagDataset.from_bags(features, TISSUE7, np.repeat(LABELS, 4), groups=groups)


@pytest.mark.parametrize("kind", ["random", "crowd"])
def test_copies_of_a_picture_share_their_set_and_hold_the_true_label(copies, kind):
    sets = Candidates(kind, r=2, seed=4).given_to(copies).candidates
    assert (sets.reshape(30, 4, 7) == sets[::4][:, None]).all()
    assert sets[np.arange(120), copies.labels].all()
    assert len(np.unique(sets[::4], axis=0)) > 7  # pictures of a class differ


def test_the_sets_are_those_of_the_pictures_wherever_the_copies_stand(copies):
    expected = uniform_false_positives(LABELS, 7, 2, 4)
    order = np.random.default_rng(0).permutation(120)
    shuffled = Candidates("random", r=2, seed=4).given_to(copies.subset(order))
    np.testing.assert_array_equal(shuffled.candidates, expected[copies.groups[order]])
    crowd = Candidates("crowd", seed=4, size=1.5).given_to(copies).candidates[::4]
    np.testing.assert_array_equal(crowd, simulate(LABELS, TISSUE7, target_size=1.5, seed=4).candidates)


def test_one_picture_in_two_class_folders_keeps_both_labels(copies):
    labels = copies.labels.copy()
    labels[1] = 6  # a copy of the first picture, filed under another class
    mixed = Candidates("random", r=1, seed=0).given_to(replace(copies, labels=labels))
    assert mixed.candidates[np.arange(120), labels].all()


def test_own_sets_stay_and_each_kind_says_what_it_is(copies):
    assert Candidates().given_to(copies) is copies
    assert (Candidates().scheme, Candidates("own", seed=3).drawn_with) == ("as in the data set", None)
    assert Candidates("random", r=3, seed=5).scheme == "true label and 3 random others"
    assert Candidates("crowd", seed=5).drawn_with == 5


def test_what_can_t_be_drawn_is_refused(copies):
    with pytest.raises(InputError, match="can't be “magic”"):
        Candidates("magic")
    with pytest.raises(InputError, match="around known labels"):
        Candidates("random").given_to(replace(copies, labels=np.full(120, -1)))
    with pytest.raises(InputError, match="don't fit beside"):
        Candidates("random", r=6).given_to(copies)
