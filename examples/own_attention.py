"""Train with an attention of your own, and name it in the settings: it then also works as `train --set attention=…`."""

from elimipl import Config, fit, register_attention
from elimipl.datasets.benchmark_sets import build_digits


def sharper(scores, epoch, epochs):
    """Even at first and sharp at last; the softmax within each bag is taken of what this returns."""
    return scores * epoch / epochs


register_attention("sharper", sharper)
digits = build_digits(r=1)
settings = {"hidden": 32, "epochs": 40, "batch": 16, "lr": 0.05, "scaling": "global"}
fitted = fit(digits, Config.preset("default", attention="sharper", **settings))
print(f"accuracy on the training bags {fitted.predict(digits).accuracy(digits.labels):.2f}")
