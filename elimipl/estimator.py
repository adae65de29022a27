"""Every method as a scikit-learn classifier: bags in, classes out, in `cross_val_score` and pipelines as usual."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from bag_generators.base.errors import InputError
from elimipl.candidates.labels import LabelSpace
from elimipl.datasets.dataset import BagDataset
from elimipl.methods import find_method, settings_for
from elimipl.model.inference import Predictions

_SETTINGS = ("hidden", "lr", "epochs", "batch", "dropout", "weight_decay", "mu", "gamma")
_PARTS = ("extractor", "attention", "loss")


@dataclass(kw_only=True, eq=False, repr=False)
class MIPLClassifier(ClassifierMixin, BaseEstimator):
    """Learn from bags whose labels are only known to be among some candidates.

    `X` is a sequence of m bags, each an array of (n_i, d) instances. `y` is one of

    - m candidate sets, each a list, tuple or set of labels: `[["cat", "dog"], ["cat"]]`,
    - a boolean matrix (m, k) of candidates; its columns are the classes `classes`, or 0..k−1,
    - m plain labels, where every label is known (or with `candidates`, see `fit`).

    `method` is any name in `elimipl.METHODS`. `hidden` to `gamma` are settings most methods have, None for the method's
    own, so that a `GridSearchCV` can search them; `settings` are any others (`elimipl.Config` for networks), such as
    `{"scaling": "global"}`. `preset`, `extractor`, `attention` and `loss` are those of `Config.preset` and
    `elimipl.fit`, for methods that train the network.

    >>> X = [[[0.0, 1.0]], [[5.0, 2.0], [4.0, 2.0]], [[0.0, 2.0]]]
    >>> model = MIPLClassifier(epochs=3, hidden=8, device="cpu").fit(X, [["a", "b"], ["b"], ["a"]])
    >>> model.classes_.tolist(), model.predict_proba(X).shape
    (['a', 'b'], (3, 2))
    """

    method: str = "ELIMIPL"
    preset: str = "default"
    hidden: int | None = None
    lr: float | None = None
    epochs: int | None = None
    batch: int | None = None
    dropout: float | None = None
    weight_decay: float | None = None
    mu: float | None = None
    gamma: float | None = None
    settings: Mapping[str, Any] | None = None
    random_state: int = 0
    classes: Sequence[Any] | None = None
    extractor: Any = None
    attention: Any = None
    loss: Any = None
    device: str = "auto"

    def fit(self, X: Sequence[ArrayLike], y: Any, candidates: Any = None) -> MIPLClassifier:
        """Train. With `candidates` (sets or a matrix, as above) these are learned from, and `y` are the true labels.

        So a cross-validation learns from candidates and scores true labels:
        `cross_val_score(model, X, labels, params={"candidates": candidates})`.
        """
        method = find_method(self.method)
        changes = {"seed": self.random_state, **self._given(_SETTINGS), **(self.settings or {})}
        config = settings_for(method, preset=self.preset, **changes)
        parts = self._given(_PARTS)
        if parts and not method.is_network:
            raise InputError(f"{method.name} has no {next(iter(parts))} to replace.", "Choose a method with a network.")
        y = _plain(y)
        given = y if candidates is None else _plain(candidates)
        self.classes_ = _classes(given, y, self.classes)
        sets = _candidate_matrix(given, self.classes_)
        labels = _label_numbers(y, self.classes_) if _are_labels(y) else np.full(len(sets), -1)
        names = [str(label) for label in self.classes_]
        bags = BagDataset.from_bags(_bags(X, len(sets)), LabelSpace.of(names), labels, sets)
        self.fitted_: Any = method.fit(bags, config, device=self.device, **parts)
        self.n_features_in_ = bags.dim
        return self

    def predict_proba(self, X: Sequence[ArrayLike]) -> np.ndarray:
        """(m, k) class probabilities; columns as in `classes_`."""
        return self.predictions(X).probabilities

    def predict(self, X: Sequence[ArrayLike]) -> np.ndarray:
        """(m,) the most probable class of each bag."""
        columns = self.predict_proba(X).argmax(1)
        classes: np.ndarray = self.classes_[columns]
        return classes

    def predictions(self, X: Sequence[ArrayLike], *, embeddings: bool = False) -> Predictions:
        """Probabilities and, of networks, the attention of every instance, one bag after the other; z of eq. 4 if asked
        for.
        """
        check_is_fitted(self)
        bags = BagDataset.from_bags(_bags(X), LabelSpace.of([str(label) for label in self.classes_]))
        return self.fitted_.predict(bags, embeddings=True) if embeddings else self.fitted_.predict(bags)

    def _given(self, names: Sequence[str]) -> dict[str, Any]:
        """Those parameters that are not None."""
        return {name: getattr(self, name) for name in names if getattr(self, name) is not None}

    def score(self, X: Sequence[ArrayLike], y: Any, sample_weight: ArrayLike | None = None) -> float:
        """Accuracy, if `y` are true labels.

        Where only candidates are known: the share of bags whose predicted class is among them, which is never below
        the accuracy.
        """
        columns = self.predict_proba(X).argmax(1)
        right = _candidate_matrix(_plain(y), self.classes_, may_be_new=True)[np.arange(len(columns)), columns]
        return float(np.average(right, weights=None if sample_weight is None else np.asarray(sample_weight, float)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        return tags


def _bags(X: Sequence[ArrayLike], count: int | None = None) -> list[np.ndarray]:
    """The bags as arrays of numbers; how many there have to be, where that is known."""
    bags = []
    for i, bag in enumerate(X):
        try:
            array = np.asarray(bag, dtype=np.float64)
        except (TypeError, ValueError):
            array = np.empty(0)
        if array.ndim != 2:
            raise InputError(
                f"Bag {i} is not a table of numbers.",
                "Give X as a sequence of bags, each an array of instances by features.",
            )
        bags.append(array)
    if count is not None and len(bags) != count:
        raise InputError(f"There are {len(bags)} bags, but {count} labels.", "Give one label or candidate set a bag.")
    return bags


def _plain(y: Any) -> Any:
    """`y` without a pandas wrapping, and rows of true and false as the matrix that they are."""
    if hasattr(y, "to_numpy"):
        y = y.to_numpy()
    if isinstance(y, list | tuple) and y and all(_is_set(each) for each in y):
        widths = {len(each) for each in y}
        if len(widths) == 1 and all(isinstance(value, bool | np.bool_) for each in y for value in each):
            return np.array([list(each) for each in y])
    return y


def _is_matrix(y: Any) -> bool:
    return isinstance(y, np.ndarray) and y.ndim == 2 and y.dtype != object


def _are_labels(y: Any) -> bool:
    """Whether `y` are plain labels, not candidate sets."""
    return not _is_matrix(y) and not any(_is_set(each) for each in y)


def _is_set(each: Any) -> bool:
    return isinstance(each, Iterable) and not isinstance(each, str | bytes)


def _classes(given: Any, y: Any, classes: Sequence[Any] | None) -> np.ndarray:
    """The classes in the order of the columns."""
    if classes is not None:
        found = np.asarray(classes)
    elif _is_matrix(given):
        found = np.arange(given.shape[1])
    else:
        labels = [label for each in given for label in (each if _is_set(each) else [each])]
        found = np.unique(np.asarray([*labels, *(y if _are_labels(y) else ())]))
    if found.ndim != 1 or len(set(found.tolist())) < max(len(found), 2):
        raise InputError(f"The classes can't be {found.tolist()}.", "Give at least two different ones.")
    return found


def _candidate_matrix(y: Any, classes: np.ndarray, may_be_new: bool = False) -> np.ndarray:
    """(m, k) bool, whatever way the candidates were given; with `may_be_new`, classes never learned are no column."""
    if _is_matrix(y):
        if y.shape[1] != len(classes) or not np.isin(y, (0, 1)).all():
            raise InputError(
                f"A candidate matrix of the shape {y.shape} doesn't fit {len(classes)} classes.",
                "Give one column of true and false for each class.",
            )
        return y.astype(bool)
    column = {label: number for number, label in enumerate(classes.tolist())}
    matrix = np.zeros((len(y), len(classes)), bool)
    for i, each in enumerate(y):
        for label in each if _is_set(each) else (each,):
            plain = label.item() if isinstance(label, np.generic) else label
            if plain in column:
                matrix[i, column[plain]] = True
            elif not may_be_new:
                raise InputError(f"Bag {i} has the label {plain!r}.", f"The classes are {', '.join(map(str, column))}.")
    return matrix


def _label_numbers(y: Any, classes: np.ndarray) -> np.ndarray:
    return _candidate_matrix(y, classes).argmax(1)
