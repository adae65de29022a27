"""Learn from two data sets that cut the same classes differently: a label is the set of common classes it may mean."""

import numpy as np

from elimipl import BagDataset, Config, LabelSpace, fit, group_folds, join

rng = np.random.default_rng(0)
truth = {"coarse": rng.integers(0, 3, 60), "fine": rng.integers(0, 3, 60)}  # healthy, low grade, high grade
bags = {name: [rng.normal(label, 0.5, (4, 8)) for label in labels] for name, labels in truth.items()}
coarse = BagDataset.from_bags(bags["coarse"], LabelSpace.of(["healthy", "adenoma"]), np.minimum(truth["coarse"], 1))
fine = BagDataset.from_bags(bags["fine"], LabelSpace.of(["benign", "low", "high"]), truth["fine"])
mapping = {
    "coarse": {"healthy": "normal", "adenoma": {"low_grade", "high_grade"}},
    "fine": {"benign": "normal", "low": "low_grade", "high": "high_grade"},
}
space = LabelSpace.of(["normal", "low_grade", "high_grade"])
joined = join({"coarse": coarse, "fine": fine}, mapping, space)
train, test = group_folds(joined, n=4)[0]
answers = fit(joined.subset(train), Config.preset("default", hidden=32, epochs=50)).predict(joined.subset(test))
accuracy = answers.accuracy(np.concatenate([truth["coarse"], truth["fine"]])[test])
print(f"{accuracy:.2f} right, though half of the bags say “adenoma” for both grades")
