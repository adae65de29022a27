"""Simulated annotators: the two-of-three rule, the size of the sets, and who is confused with whom."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bag_generators.base.errors import InputError
from elimipl.candidates.crowd import (
    Candidates,
    annotate,
    confusion_matrix,
    doubtful,
    krippendorff_alpha,
    look_alikes,
    simulate,
    two_of_three,
    uniform_false_positives,
)
from elimipl.candidates.labels import COLON, LESION5, TISSUE7, LabelSpace
from elimipl.datasets.dataset import BagDataset

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
    monkeypatch.setattr("elimipl.candidates.crowd.confusion_matrix", lambda _: np.array(matrix) + 1e-12)
    crowd = simulate(np.zeros(4000, dtype=int), space, target_size=1.5)
    shares = np.bincount(crowd.tops.ravel(), minlength=4) / crowd.tops.size
    np.testing.assert_allclose(shares, row, atol=0.02)


def test_a_hopeless_crowd_still_names_the_truth(monkeypatch):
    space = LabelSpace.of("abc")
    matrix = [[1e-9, 1 - 1e-9, 0.0], [0.0, 1e-9, 1 - 1e-9], [1 - 1e-9, 0.0, 1e-9]]
    labels = balanced(space, 20)
    monkeypatch.setattr("elimipl.candidates.crowd.confusion_matrix", lambda _: np.array(matrix) + 1e-12)
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


# Krippendorff, Computing Krippendorff's Alpha-Reliability (2011), section C: four observers, twelve units.
FOUR_OBSERVERS = np.array([
    [1, 2, 3, 3, 2, 1, 4, 1, 2, -1, -1, -1],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, -1, 3],
    [-1, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, -1],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, -1],
])  # fmt: skip


def by_pairs(labels):
    """1 − observed / expected disagreement, counted over ordered pairs of answers."""
    units = [[int(value) for value in unit if value >= 0] for unit in labels.T]
    units = [unit for unit in units if len(unit) >= 2]
    everything = [value for unit in units for value in unit]
    n = len(everything)
    observed = sum(
        sum(a != b for i, a in enumerate(unit) for j, b in enumerate(unit) if i != j) / (len(unit) - 1)
        for unit in units
    )
    expected = sum(a != b for i, a in enumerate(everything) for j, b in enumerate(everything) if i != j)
    return None if expected == 0 else 1 - observed * (n - 1) / expected


def test_the_published_example():
    assert krippendorff_alpha(FOUR_OBSERVERS) == pytest.approx(0.743, abs=5e-4)


@given(st.integers(0, 10_000))
def test_it_is_its_definition(seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(-1, 4, (int(rng.integers(1, 6)), int(rng.integers(1, 7))))
    expected = by_pairs(labels)
    assert krippendorff_alpha(labels) == (None if expected is None else pytest.approx(expected))


def test_all_of_one_mind_and_nothing_to_agree_on():
    assert krippendorff_alpha(np.array([[0, 1, 2]] * 5)) == 1
    assert krippendorff_alpha(np.zeros((5, 3), dtype=int)) is None
    assert krippendorff_alpha(np.full((5, 3), -1)) is None
    assert krippendorff_alpha(np.empty((0, 3), dtype=int)) is None


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


MANY = 20_000
NAMES = [f"source/tile {i}" for i in range(MANY)]
CHANCES = look_alikes(COLON)


def added(names, **options):
    sets = np.tile(np.isin(COLON.names, names), (MANY, 1))
    after = doubtful(sets, NAMES, COLON, **options)
    assert after[sets].all()
    assert (after & ~sets).sum(axis=1).max() <= 1
    return dict(zip(COLON.names, (after & ~sets).mean(axis=0), strict=True))


def test_labels_come_up_as_often_as_pathologists_confuse_them_or_their_average():
    shares = added(["serrated"])
    assert shares["normal"] == pytest.approx(384 / 842 / 2, abs=0.01)
    assert shares["low_grade"] + shares["high_grade"] == pytest.approx(170 / 842, abs=0.01)
    assert shares["stroma"] == 0
    shares = added(["low_grade", "high_grade"])
    expected = CHANCES[[COLON.index("low_grade"), COLON.index("high_grade")]].mean(axis=0)
    for name in ("normal", "serrated", "carcinoma"):
        assert shares[name] == pytest.approx(expected[COLON.index(name)], abs=0.01)


def test_the_draw_is_the_pictures_own():
    sets = np.eye(12, dtype=bool)[np.arange(60) % 12]
    names = [f"tile {i}" for i in range(60)]
    whole = doubtful(sets, names, COLON, seed=3)
    assert (doubtful(sets[::-2], names[::-2], COLON, seed=3) == whole[::-2]).all()
    assert (doubtful(sets, names, COLON, seed=4) != whole).any()
    copies = doubtful(np.tile(np.eye(12, dtype=bool)[1], (50, 1)), ["one tile"] * 50, COLON)
    assert len(np.unique(copies, axis=0)) == 1


def test_no_set_comes_to_hold_every_class():
    space = LabelSpace.of("abc")
    always = np.full((3, 3), 1 / 3)
    after = doubtful([[True, True, False], [True, False, False]], ["x", "y"], space, chances=always)
    assert after.sum(axis=1).max() < 3


@pytest.mark.parametrize(
    ("space", "chances", "pictures", "sentence"),
    [
        (LabelSpace.of("abc"), None, ["x"], "Nothing is known"),
        (LabelSpace.of("abc"), np.ones((3, 3)), ["x"], "not a table of chances"),
        (LabelSpace.of("abc"), np.zeros((2, 3)), ["x"], "not a table of chances"),
        (LabelSpace.of("abc"), np.zeros((3, 3)), ["x", "y"], "don't fit 3 classes"),
        (LabelSpace.of("ab"), np.zeros((2, 2)), ["x"], "don't fit 2 classes"),
    ],
)
def test_what_does_not_fit_is_refused(space, chances, pictures, sentence):
    with pytest.raises(InputError, match=sentence):
        doubtful([[True, False, False]], pictures, space, chances=chances)


def test_the_colons_chances_are_chances():
    assert (CHANCES >= 0).all()
    assert (CHANCES.sum(axis=1) < 1).all()
    assert (np.diagonal(CHANCES) == 0).all()
