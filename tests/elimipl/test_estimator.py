"""The scikit-learn estimator."""

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from torch import nn

from bag_generators.base.errors import InputError
from elimipl.config import Config
from elimipl.estimator import MIPLClassifier
from elimipl.methods import METHODS
from elimipl.training.loop import fit
from tests.elimipl.toy_bags import toy_bags

QUICK = {"epochs": 30, "hidden": 24, "batch": 16, "lr": 0.05}
NAMES = np.array(["ash", "birch", "cedar", "dogwood"])


def quick(**parameters):
    return MIPLClassifier(settings=QUICK, device="cpu", **parameters)


@pytest.fixture(scope="module")
def data():
    return toy_bags()


@pytest.fixture(scope="module")
def bags(data):
    return [data.bag(i) for i in range(len(data))]


@pytest.fixture(scope="module")
def names(data):
    return NAMES[data.labels]


@pytest.fixture(scope="module")
def sets(data):
    return [NAMES[row].tolist() for row in data.candidates]


def test_is_the_same_training_as_fit(data, bags):
    model = quick(random_state=3).fit(bags, np.array(data.candidates))
    expected = fit(data, Config.preset("default", seed=3, **QUICK), device="cpu").predict(data)
    np.testing.assert_array_equal(model.predict_proba(bags), expected.probabilities)
    np.testing.assert_array_equal(model.predictions(bags).attention, expected.attention)
    assert model.predictions(bags, embeddings=True).embeddings.shape == (120, 24)
    assert model.classes_.tolist() == [0, 1, 2, 3]
    assert model.n_features_in_ == 5
    np.testing.assert_array_equal(model.predict(bags), expected.probabilities.argmax(1))


def test_sets_of_names_and_a_matrix_with_classes_mean_the_same(data, bags, sets, names):
    by_sets = quick().fit(bags, sets)
    by_matrix = quick(classes=NAMES).fit(np.array(bags, dtype=object), np.array(data.candidates))
    assert by_sets.classes_.tolist() == by_matrix.classes_.tolist() == NAMES.tolist()
    np.testing.assert_array_equal(by_sets.predict_proba(bags), by_matrix.predict_proba(bags))
    np.testing.assert_array_equal(
        quick(classes=NAMES).fit(bags, data.candidates.tolist()).predict(bags), by_sets.predict(bags)
    )
    assert by_sets.score(bags, names) == np.mean(by_sets.predict(bags) == names) > 0.8
    assert by_sets.score(bags, sets) >= by_sets.score(bags, names)
    assert by_sets.score(bags, ["yew"] * 120) == 0  # a class it has never met
    known = quick().fit(bags, names)
    assert known.score(bags, names) > 0.9
    assert known.fitted_.history[-1].train_accuracy is not None


def test_works_in_cross_validation(data, bags, names):
    plain = cross_val_score(quick(), bags, names, cv=3)
    assert plain.shape == (3,)
    assert plain.mean() > 0.7
    partial = cross_val_score(quick(classes=NAMES), bags, names, cv=3, params={"candidates": np.array(data.candidates)})
    assert partial.mean() > 0.6
    assert not np.array_equal(plain, partial)
    unknown = cross_val_score(quick(), bags, np.array(data.candidates), cv=3)
    assert (unknown >= 0.5).all()


def test_is_cloned_with_all_its_parts(bags, names):
    model = quick(random_state=7, extractor=nn.Linear(5, 4))
    copied = clone(model)
    assert copied.get_params().keys() == model.get_params().keys()
    assert copied.random_state == 7
    assert is_classifier(copied)
    assert copied.fit(bags[:20], names[:20]).fitted_.network.embed.in_features == 4


def test_a_grid_search_may_vary_the_method_and_its_settings(bags, names):
    grid = {"method": ["ELIMIPL", "cdl-sam-cn"], "preset": ["paper", "default"], "hidden": [8, 24], "lr": [0.05]}
    found = GridSearchCV(MIPLClassifier(epochs=10, batch=16, device="cpu"), grid, cv=2).fit(bags[:40], names[:40])
    assert set(found.best_params_) == set(grid)
    assert found.best_estimator_.fitted_.config.hidden == found.best_params_["hidden"]


@pytest.mark.parametrize("method", METHODS)
def test_every_method_is_a_classifier(method, bags, names):
    model = MIPLClassifier(method=method, epochs=1, device="cpu").fit(bags[:12], names[:12])
    assert model.predict_proba(bags[:3]).shape == (3, 4)
    has_attention = METHODS[method].family == "MIPL" and method != "MIPLGP"
    assert (model.predictions(bags[:3]).attention is not None) == has_attention


def test_what_a_method_does_not_have_is_refused(bags, names):
    with pytest.raises(InputError, match="There is no method “ELIMPL”"):
        MIPLClassifier(method="ELIMPL").fit(bags, names)
    with pytest.raises(InputError, match="PRODEN-Mean has no loss to replace"):
        MIPLClassifier(method="PRODEN-Mean", loss=lambda e, s, w: e.sum()).fit(bags, names)
    with pytest.raises(InputError, match="There is no setting 'hidden'"):
        MIPLClassifier(method="MIPLGP", hidden=3).fit(bags, names)
    with pytest.raises(InputError, match="MIPLGP has no presets"):
        MIPLClassifier(method="MIPLGP", preset="paper").fit(bags, names)


def test_a_class_of_the_labels_that_no_candidate_set_has_is_a_class_all_the_same(bags):
    model = quick().fit(bags[:3], ["a", "b", "c"], candidates=[["a", "b"], ["a", "b"], ["b", "a"]])
    assert model.classes_.tolist() == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("X", "y", "sentence"),
    [
        ([[1.0, 2.0], [3.0, 4.0]], ["a", "b"], "Bag 0 is not a table of numbers"),
        ([[["x"]], [["y"]]], ["a", "b"], "Bag 0 is not a table of numbers"),
        ([[[1.0]], [[2.0]]], ["a", "b", "a"], "There are 2 bags, but 3 labels"),
        ([[[1.0]], [[2.0, 3.0]]], ["a", "b"], "Bag 1 has the shape"),
        ([[[1.0]], [[2.0]]], ["a", "a"], r"The classes can't be \['a'\]"),
        ([[[1.0]], [[2.0]]], [["a", "b"], []], "Bag 1 .* has an empty candidate set"),
        ([[[1.0]], [[np.nan]]], ["a", "b"], "not finite"),
        ([[[1.0]], [[2.0]]], np.array([[0, 2], [1, 1]]), "one column of true and false"),
    ],
)
def test_what_makes_no_sense_is_refused(X, y, sentence):
    with pytest.raises(InputError, match=sentence):
        quick().fit(X, y)


def test_refusals_that_need_more_than_data(bags, names):
    with pytest.raises(InputError, match="Bag 0 has the label"):
        quick(classes=["x", "y"]).fit(bags, names)
    with pytest.raises(InputError, match="There is no setting 'epoch'"):
        MIPLClassifier(settings={"epoch": 3}).fit(bags, names)
    with pytest.raises(NotFittedError):
        quick().predict(bags)
    with pytest.raises(InputError, match="reads instances of 5 features"):
        quick().fit(bags[:8], names[:8]).predict([np.zeros((2, 3))])
