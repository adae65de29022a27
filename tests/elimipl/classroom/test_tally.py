"""Votes as tables: counts, candidate sets, mistakes, and three students drawn from a class."""

import numpy as np
import pytest

from elimipl.classroom.store.records import Ballot
from elimipl.classroom.tally import tally

BALLOTS = [
    Ballot(3, 1, (0, 1), 0), Ballot(5, 1, (0,), 0), Ballot(9, 1, (1, 2), 2),
    Ballot(3, 2, (2,), 2), Ballot(5, 2, (1,), 1),
]  # fmt: skip


def test_counts_sets_and_pictures_without_an_answer():
    counted = tally(BALLOTS, 3, 3)
    assert counted.answers.tolist() == [3, 2, 0]
    assert counted.named.tolist() == [[2, 2, 1], [0, 1, 1], [0, 0, 0]]
    assert counted.first.tolist() == [[2, 0, 1], [0, 1, 1], [0, 0, 0]]
    assert counted.candidates.tolist() == [[True, True, False], [False, True, True], [False, False, False]]
    assert tally([], 3, 3).candidates.sum() == 0
    assert tally([], 3, 3).alpha is None


def test_mistakes_are_shares_of_the_answers_to_a_true_label():
    counted = tally(BALLOTS, 3, 3)
    shares = counted.taken_for([0, 0, None])
    assert shares[0] == pytest.approx([2 / 5, 3 / 5, 2 / 5])
    assert np.isnan(shares[1:]).all()
    assert counted.confusions([0, 0, None]) == [(0, 1, pytest.approx(0.6)), (0, 2, pytest.approx(0.4))]
    assert counted.confusions([None, None, None]) == []


def test_three_students_are_drawn_for_each_picture_among_those_who_answered():
    ballots = [Ballot(student, 1, (student % 4,), student % 4) for student in range(1, 41)] + BALLOTS[3:]
    counted = tally(ballots, 2, 4)
    drawn = [counted.of_some(3, seed) for seed in range(5)]
    assert all(some.answers.tolist() == [3, 2] for some in drawn)
    assert len({tuple(np.flatnonzero(some.tops[:, 0] >= 0)) for some in drawn}) > 1
    assert (drawn[0].tops == counted.of_some(3, 0).tops).all()
    assert not (drawn[0].votes & ~counted.votes).any()
