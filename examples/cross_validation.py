"""The classifier in scikit-learn: learn from candidate sets, be scored on true labels."""

from sklearn.model_selection import cross_val_score

from elimipl import MIPLClassifier
from elimipl.datasets.shipped import load_bag_set

data = load_bag_set("phantoms-row")  # bags, labels and the candidate sets of a simulated crowd
bags = [data.bag(i) for i in range(len(data))]
model = MIPLClassifier(settings={"hidden": 32, "epochs": 40, "batch": 16, "lr": 0.05})
scores = cross_val_score(model, bags, data.labels, cv=3, params={"candidates": data.candidates})
print(f"accuracy {scores.mean():.2f} ± {scores.std():.2f} in three folds")
