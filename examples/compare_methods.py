"""Any method in a grid search of scikit-learn: it learns from candidate sets and is scored by true labels."""

from sklearn.model_selection import GridSearchCV

from elimipl import MIPLClassifier
from elimipl.datasets.benchmark_sets import build_digits

digits = build_digits(r=1)
bags = [digits.bag(i) for i in range(len(digits))]
model = MIPLClassifier(epochs=40, batch=16, hidden=32, settings={"scaling": "global"}, classes=range(digits.n_classes))
grid = {"method": ["ELIMIPL", "CDL-SAM-CN"], "lr": [0.05, 0.1]}
found = GridSearchCV(model, grid, cv=3).fit(bags, digits.labels, candidates=digits.candidates)
print(f"{found.best_params_['method']} at {found.best_params_['lr']}: accuracy {found.best_score_:.2f}")
