"""Label sets: a literal reference, their coverage, the classes with too few pictures, and sets by candidates alone."""

import math

import numpy as np
import pytest
from mapie.classification import SplitConformalClassifier
from sklearn.base import BaseEstimator, ClassifierMixin

from bag_generators.base.errors import InputError
from elimipl.cards.conformal import (
    LEVELS,
    Conformal,
    fit_conformal,
    left_out_members,
    measure_coverage,
)


def answers(m: int, k: int = 4, seed: int = 0, skill: float = 2.0) -> tuple[np.ndarray, np.ndarray]:
    """Labels, and probabilities of a model that knows something about them."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, k, m)
    energies = rng.normal(size=(m, k)) + skill * np.eye(k)[labels]
    return np.exp(energies) / np.exp(energies).sum(axis=1, keepdims=True), labels


def literal_set(probabilities, labels, new, level):
    """The set of one new bag by the definition: y is in it when enough old bags of y conform no better."""
    found = []
    for y in range(probabilities.shape[1]):
        scores = sorted(1 - probabilities[i, y] for i in range(len(labels)) if labels[i] == y)
        rank = math.ceil(level * (len(scores) + 1))
        if rank > len(scores) or 1 - new[y] <= scores[rank - 1] or new[y] == max(new):
            found.append(y)
    return found


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("m", [20, 61, 400])
def test_sets_are_those_of_the_definition(level, m):
    probabilities, labels = answers(m)
    fitted = fit_conformal(probabilities, labels, "toy bags")
    for new in answers(60, seed=1)[0]:
        assert np.flatnonzero(fitted.members(new, level)).tolist() == literal_set(probabilities, labels, new, level)


class Given(ClassifierMixin, BaseEstimator):
    """A classifier whose input are its probabilities, for libraries that want one."""

    is_fitted_ = True
    n_features_in_ = 4

    @property
    def classes_(self):
        return np.arange(4)

    def fit(self, X, y=None):
        return self

    def predict_proba(self, X):
        return X

    def predict(self, X):
        return X.argmax(axis=1)


@pytest.mark.filterwarnings("ignore:.*less labels than your training dataset")
@pytest.mark.parametrize("level", LEVELS)
def test_sets_are_those_of_mapie_class_by_class(level):
    probabilities, labels = answers(400)
    new = answers(200, seed=1)[0]
    expected = np.zeros(new.shape, dtype=bool)
    for c in range(4):
        theirs = SplitConformalClassifier(Given(), confidence_level=level, prefit=True, conformity_score="lac")
        theirs.conformalize(probabilities[labels == c], labels[labels == c])
        expected[:, c] = theirs.predict_set(new)[1][:, c, 0]
    expected |= new == new.max(axis=1, keepdims=True)  # theirs may be empty
    np.testing.assert_array_equal(fit_conformal(probabilities, labels, "toy bags").members(new, level), expected)


@pytest.mark.parametrize("level", LEVELS)
def test_sets_with_a_shared_threshold_are_those_of_mapie(level):
    probabilities, labels = answers(400)
    new = answers(200, seed=1)[0]
    theirs = SplitConformalClassifier(Given(), confidence_level=level, prefit=True, conformity_score="lac")
    theirs.conformalize(probabilities, labels)
    expected = theirs.predict_set(new)[1][:, :, 0] | (new == new.max(axis=1, keepdims=True))
    found = fit_conformal(probabilities, labels, "toy bags", shared=True)
    np.testing.assert_array_equal(found.members(new, level), expected)


@pytest.mark.parametrize("level", LEVELS)
def test_the_promise_holds_for_every_class(level):
    fitted = fit_conformal(*answers(4_000), "toy bags")
    probabilities, labels = answers(20_000, seed=1)
    coverage = measure_coverage(fitted.members(probabilities, level), labels, "other bags")
    assert level - 0.02 < coverage.value < level + 0.05  # more where the most probable label alone would do
    assert coverage.lowest_of_a_class > level - 0.03
    assert 1 <= coverage.size < 2


def test_a_class_with_too_few_pictures_is_always_possible():
    probabilities, labels = answers(300)
    kept = (labels != 2) | (np.cumsum(labels == 2) <= 8)
    fitted = fit_conformal(probabilities[kept], labels[kept], "toy bags")
    assert fitted.pictures[2] == 8
    assert fitted.members(np.array([1.0, 0, 0, 0]), 0.9).tolist() == [True, False, True, False]
    assert not fitted.members(np.array([1.0, 0, 0, 0]), 0.8)[2]


def test_a_picture_that_was_held_out_several_times_counts_once():
    probabilities, labels = answers(200)
    once = fit_conformal(probabilities, labels, "toy bags")
    again = np.tile(np.arange(200), 3)
    thrice = fit_conformal(probabilities[again], labels[again], "toy bags", again)
    assert thrice == once
    assert sum(once.pictures) == 200


def test_left_out_bags_are_covered_like_new_ones_or_better():
    probabilities, labels = answers(2_000)
    left_out = measure_coverage(left_out_members(probabilities, labels), labels, "toy bags")
    assert left_out.value == pytest.approx(0.9, abs=0.02)
    # An answer never helps to judge itself: with ten pictures of a class, nine are left, which is just enough.
    few = left_out_members(probabilities[:10], np.zeros(10, dtype=int))
    assert few.shape == (10, 4)
    assert few[:, 1:].all()
    probabilities, labels = answers(2_000, skill=6.0)
    found = measure_coverage(left_out_members(probabilities, labels), labels, "toy bags")
    right = (probabilities.argmax(axis=1) == labels).mean()
    assert found.value >= right > 0.95  # what is right is covered
    assert found.size >= 1


@pytest.mark.parametrize("level", LEVELS)
def test_the_most_probable_label_is_in_every_set(level):
    fitted = fit_conformal(*answers(400, skill=6.0), "toy bags")
    probabilities = answers(2_000, seed=1, skill=0.5)[0]
    members = fitted.members(probabilities, level)
    assert members[np.arange(2_000), probabilities.argmax(axis=1)].all()
    assert (members.sum(axis=1) == 1).any()
    as_likely = np.array([0.4, 0.4, 0.2, 0.0])
    assert fitted.members(as_likely, level)[:2].all()  # whichever of the two is answered


def test_coverage_counts_sets_and_an_unknown_level_is_refused():
    members = np.array([[1, 0, 0], [1, 1, 0], [0, 0, 1], [1, 1, 1]], dtype=bool)
    found = measure_coverage(members, np.array([0, 2, 1, 1]), "four bags")
    assert (found.value, found.size, found.single, found.no_answer, found.n) == (0.5, 1.75, 0.5, 0.25, 4)
    assert found.lowest_of_a_class == 0
    with pytest.raises(InputError, match=r"level 0\.5\. Choose from: 0\.8, 0\.9, 0\.95\."):
        fit_conformal(*answers(50), "toy bags").members(np.ones(4) / 4, 0.5)


@pytest.mark.parametrize("thresholds", [((0.1, 0.2),), ((0.1,),) * 3])
def test_damaged_thresholds_are_refused(thresholds):
    with pytest.raises(InputError, match="label sets"):
        Conformal(thresholds, (5, 5), "toy bags")
