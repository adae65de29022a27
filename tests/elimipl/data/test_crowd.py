"""Simulated annotators: the two-of-three rule, the size of the sets, and who is confused with whom."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bag_generators.errors import InputError
from elimipl.data.crowd import annotate, confusion_matrix, simulate, two_of_three, uniform_false_positives
from elimipl.labels import COLON, LESION5, TISSUE7, LabelSpace

SPACES = [TISSUE7, LESION5, COLON, LabelSpace.of("abc"), LabelSpace.of(map(str, range(13)))]


def balanced(space, per_class):
    return np.repeat(np.arange(len(space)), per_class)


def literal_rule(votes, tops):
    """The rule of the paper, one tile and one label at a time."""
    sets = []
    for tile in range(votes.shape[1]):
        named = {c for c in range(votes.shape[2]) if sum(bool(votes[w, tile, c]) for w in range(3)) >= 2}
        sets.append(named if len(named) > 1 else {int(tops[w, tile]) for w in range(3)})
    return sets


@given(st.integers(0, 10_000))
@settings(max_examples=30)
def test_the_rule_agrees_with_its_literal_reading(seed):
    rng = np.random.default_rng(seed)
    votes, tops = rng.random((3, 20, 6)) < 0.2, rng.integers(0, 6, (3, 20))
    sets = [set(np.flatnonzero(row)) for row in two_of_three(votes, tops)]
    assert sets == literal_rule(votes, tops)


@pytest.mark.parametrize("space", SPACES)
def test_candidates_follow_from_the_votes_and_hold_the_truth(space):
    labels = balanced(space, 60)
    crowd = simulate(labels, space, seed=3)
    assert crowd.votes.shape == (3, len(labels), len(space))
    sets = [set(np.flatnonzero(row)) for row in crowd.candidates]
    assert sets == literal_rule(crowd.votes, crowd.tops)
    assert crowd.candidates[np.arange(len(labels)), labels].all()
    assert not crowd.candidates.all(axis=1).any()
    assert np.take_along_axis(crowd.votes, crowd.tops[..., None], axis=2).all()


@pytest.mark.parametrize("space", [TISSUE7, LESION5])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("size", [1.0, 1.3, 2.08, 3.5])
def test_the_average_size_is_met(space, seed, size):
    crowd = simulate(balanced(space, 50), space, target_size=size, seed=seed)
    assert crowd.mean_size == pytest.approx(size, abs=0.03)
    assert crowd.mean_size == crowd.candidates.sum() / len(crowd.candidates)


def test_the_usual_size_is_the_papers_for_unbalanced_labels_too():
    assert simulate(balanced(TISSUE7, 100), TISSUE7).mean_size == pytest.approx(2.08, abs=0.01)
    labels = np.random.default_rng(0).choice(7, size=400, p=[0.7, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05])
    assert simulate(labels, TISSUE7, target_size=2.08).mean_size == pytest.approx(2.08, abs=0.03)
    sizes = [annotate(seed % 7, TISSUE7, seed).mean_size for seed in range(400)]
    assert np.mean(sizes) == pytest.approx(2.08, abs=0.2)


def test_the_seed_decides_everything():
    labels = balanced(TISSUE7, 30)
    one, same, other = (simulate(labels, TISSUE7, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.votes, same.votes)
    np.testing.assert_array_equal(one.candidates, same.candidates)
    assert (one.candidates != other.candidates).any()


@pytest.mark.parametrize(
    ("space", "truth", "likely", "unlikely"),
    [
        (TISSUE7, "STR", "MUS", "LYM"),
        (TISSUE7, "MUS", "STR", "TUM"),
        (TISSUE7, "TUM", "NORM", "MUC"),
        (TISSUE7, "NORM", "TUM", "MUS"),
        (TISSUE7, "DEB", "MUC", "NORM"),
        (TISSUE7, "DEB", "STR", "TUM"),
        (LESION5, "tubular_adenoma", "villous_adenoma", "healthy"),
        (LESION5, "adenocarcinoma", "villous_adenoma", "healthy"),
    ],
)
def test_look_alikes_become_candidates(space, truth, likely, unlikely):
    crowd = simulate(np.full(300, space.index(truth)), space)
    share = crowd.candidates.mean(axis=0)
    assert share[space.index(likely)] > 5 * share[space.index(unlikely)]


@pytest.mark.parametrize("space", SPACES)
def test_rows_of_the_confusion_matrix_are_chances(space):
    matrix = confusion_matrix(space)
    np.testing.assert_allclose(matrix.sum(axis=1), 1.0)
    if space != COLON:  # normal passes for low grade more rarely than the other way round: that was counted
        np.testing.assert_allclose(matrix, matrix.T)
    assert (matrix > 0).all()
    assert (np.diagonal(matrix) > 0.5).all()


def test_first_impressions_follow_the_matrix(monkeypatch):
    """With no second look (a true label is nearly always in S), the top label is drawn from the row."""
    space = LabelSpace.of("abcd")
    row = [0.9, 0.08, 0.01, 0.01]
    matrix = [row, [0.25, 0.25, 0.25, 0.25], [0, 0, 1, 0], [0, 0, 0, 1]]
    monkeypatch.setattr("elimipl.data.crowd.confusion_matrix", lambda _: np.array(matrix) + 1e-12)
    crowd = simulate(np.zeros(4000, dtype=int), space, target_size=1.5)
    shares = np.bincount(crowd.tops.ravel(), minlength=4) / crowd.tops.size
    np.testing.assert_allclose(shares, row, atol=0.02)


def test_a_hopeless_crowd_still_names_the_truth(monkeypatch):
    space = LabelSpace.of("abc")
    matrix = [[1e-9, 1 - 1e-9, 0.0], [0.0, 1e-9, 1 - 1e-9], [1 - 1e-9, 0.0, 1e-9]]
    labels = balanced(space, 20)
    monkeypatch.setattr("elimipl.data.crowd.confusion_matrix", lambda _: np.array(matrix) + 1e-12)
    crowd = simulate(labels, space, target_size=1.2)
    assert crowd.candidates[np.arange(60), labels].all()


@pytest.mark.parametrize("space", [*SPACES, LabelSpace.of("ab")])
def test_one_tile(space):
    for label in range(len(space)):
        crowd = annotate(label, space, seed=label)
        assert crowd.votes.shape == (3, 1, len(space))
        assert crowd.candidates[0, label]
        assert not crowd.candidates.all()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"labels": [0, 7]}, "use 0 to 6"),
        ({"labels": [-1]}, "known labels"),
        ({"labels": []}, "one number for each tile"),
        ({"labels": [0.5]}, "one number for each tile"),
        ({"target_size": 0.5}, "between 1 and 6"),
        ({"target_size": 6.5}, "between 1 and 6"),
    ],
)
def test_impossible_wishes_are_refused(arguments, sentence):
    with pytest.raises(InputError, match=sentence):
        simulate(**{"labels": [0, 1], "label_space": TISSUE7, **arguments})


@pytest.mark.parametrize("r", range(4))
def test_uniform_false_positives(r):
    labels = np.repeat(np.arange(5), 400)
    candidates = uniform_false_positives(labels, k=5, r=r, seed=1)
    assert (candidates.sum(axis=1) == r + 1).all()
    assert candidates[np.arange(2000), labels].all()
    wrong = candidates[labels == 0].mean(axis=0)[1:]
    np.testing.assert_allclose(wrong, r / 4, atol=0.1)
    np.testing.assert_array_equal(candidates, uniform_false_positives(labels, k=5, r=r, seed=1))


@pytest.mark.parametrize("r", [-1, 4, 5])
def test_too_many_false_positives_are_refused(r):
    with pytest.raises(InputError, match="Choose 0 to 3"):
        uniform_false_positives([0], k=5, r=r)


def sets_of(votes, tops):
    """S of one picture, from one row of labels a worker."""
    named = np.array([[[label in row for label in range(5)]] for row in votes])
    return set(np.flatnonzero(two_of_three(named, np.array(tops)[:, None])[0]).tolist())


def test_two_thirds_put_a_label_into_the_set_else_the_top_labels_but_no_joker():
    assert sets_of([[0, 1]] * 4 + [[0]] * 2, [0] * 6) == {0, 1}
    assert sets_of([[0, 1]] * 3 + [[0]] * 3, [0] * 6) == {0}
    assert sets_of([[0, 1], [0, 1], []], [0, 0, -1]) == {0, 1}
    assert sets_of([[2]], [2]) == {2}
    assert sets_of([[]], [-1]) == set()
    assert sets_of([[0, 1], [0, 2], [3]], [1, 2, 3]) == {1, 2, 3}
    assert sets_of([[0, 1], [0], [0]], [1, 0, 0]) == {0, 1}
    assert sets_of([[0], [0], [0]], [0, 0, 0]) == {0}
    assert sets_of([[0]] * 27 + [[0, 1]] * 3, [0] * 27 + [1] * 3) == {0, 1}  # a tenth of thirty
    assert sets_of([[0]] * 28 + [[0, 1]] * 2, [0] * 28 + [1] * 2) == {0}
    assert sets_of([[0], [1], [2], [3]], [0, 1, 2, 3]) == {0, 1, 2, 3}
    class_of_40 = [0] * 20 + [1] * 15 + [2] * 4 + [3]
    assert sets_of([[top] for top in class_of_40], class_of_40) == {0, 1, 2}
