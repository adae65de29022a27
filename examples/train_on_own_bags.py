"""Train on bags of your own: a list of (n_i, d) arrays and, for each, the labels it may have."""

import numpy as np

from elimipl import BagDataset, Config, LabelSpace, fit

rng = np.random.default_rng(0)
labels = np.arange(60) % 3
bags = [rng.normal(label, 0.5, (rng.integers(2, 7), 4)) for label in labels]
candidates = (labels[:, None] == np.arange(3)) | (rng.random((60, 3)) < 0.3)  # the true label and some others
dataset = BagDataset.from_bags(bags, LabelSpace.of(["low", "middle", "high"]), labels, candidates)
fitted = fit(dataset.subset(range(45)), Config.preset("default", hidden=32, epochs=50))
predicted = fitted.predict(dataset.subset(range(45, 60)), embeddings=True)
print(f"accuracy {predicted.accuracy(labels[45:]):.2f}, z of each bag {predicted.embeddings.shape}")
