"""Add a method: settings, `fit` and `predict`. It then has a place in METHODS and in the benchmark."""

from dataclasses import dataclass

import numpy as np

from elimipl import METHODS, Method, Predictions, Settings, register_method
from elimipl.datasets.benchmark_sets import build_digits
from elimipl.methods.bag_features import mean_features


@dataclass(frozen=True)
class NearestCentre:
    centres: np.ndarray  # (k, d) the mean bag of each class, every bag shared out among its candidates
    history: tuple = ()

    def predict(self, dataset):
        distances = np.linalg.norm(mean_features(dataset)[:, None] - self.centres, axis=2)
        return Predictions(np.exp(-distances) / np.exp(-distances).sum(1, keepdims=True))


def fit(dataset, config, *, on_epoch=None, should_stop=None, device="auto"):
    shares = dataset.candidates / dataset.candidates.sum(1, keepdims=True)
    return NearestCentre(shares.T @ mean_features(dataset) / shares.sum(0)[:, None])


register_method(Method("Centre", "Nearest centre", "PLL", "The class whose mean bag is nearest.", Settings.of, fit))
digits, method = build_digits(r=1), METHODS["Centre"]
predicted = method.fit(digits, method.config()).predict(digits)
print(f"accuracy on the training bags {predicted.accuracy(digits.labels):.2f}")
