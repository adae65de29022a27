"""Multi-instance partial-label learning: bags of instances, candidate labels, attention.

Everything a program needs is here, and is loaded when it is first used:

>>> from elimipl import BagDataset, Config, LabelSpace, fit
>>> bags = [[[0.0, 1.0], [0.2, 0.9]], [[4.0, 3.0]], [[0.1, 1.1]], [[4.2, 2.8], [3.9, 3.1]]]
>>> dataset = BagDataset.from_bags(bags, LabelSpace.of(["near", "far"]), labels=[0, 1, 0, 1])
>>> fitted = fit(dataset, Config.preset("default", hidden=16, epochs=40), device="cpu")
>>> fitted.predict(dataset).accuracy(dataset.labels)
1.0
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

# ruff: noqa: F401 - what type checkers see is what `__getattr__` gives
if TYPE_CHECKING:
    from bag_generators.base.errors import InputError
    from elimipl.answers import explain
    from elimipl.answers.predictor import Prediction, Predictor
    from elimipl.candidates.crowd import doubtful
    from elimipl.candidates.labels import COLON, LESION5, TISSUE7, LabelSpace
    from elimipl.cards.files import list_models
    from elimipl.cards.finish import save_model
    from elimipl.config import Config, Settings
    from elimipl.datasets.dataset import BagDataset
    from elimipl.datasets.join import join
    from elimipl.estimator import MIPLClassifier
    from elimipl.methods import METHODS, Method, network_method, register_method
    from elimipl.model.batching import collate_bags
    from elimipl.model.inference import Predictions
    from elimipl.registries import ATTENTIONS, LOSSES, register_attention, register_loss
    from elimipl.training.loop import Fitted, fit
    from elimipl.training.protocol import evaluate
    from elimipl.training.reports import EpochReport
    from elimipl.training.splits import group_folds, stratified_splits

# Loaded on demand (PEP 562), so that `python -m elimipl doctor` starts where torch is broken.
_HOMES = {
    "bag_generators.base.errors": ("InputError",),
    "elimipl.cards.files": ("list_models",),
    "elimipl.cards.finish": ("save_model",),
    "elimipl.config": ("Config", "Settings"),
    "elimipl.candidates.crowd": ("doubtful",),
    "elimipl.datasets.join": ("join",),
    "elimipl.datasets.dataset": ("BagDataset",),
    "elimipl.estimator": ("MIPLClassifier",),
    "elimipl.candidates.labels": ("COLON", "LESION5", "TISSUE7", "LabelSpace"),
    "elimipl.methods": ("METHODS", "Method", "network_method", "register_method"),
    "elimipl.model.batching": ("collate_bags",),
    "elimipl.model.inference": ("Predictions",),
    "elimipl.registries": ("ATTENTIONS", "LOSSES", "register_attention", "register_loss"),
    "elimipl.answers.predictor": ("Prediction", "Predictor"),
    "elimipl.training.loop": ("Fitted", "fit"),
    "elimipl.training.protocol": ("evaluate",),
    "elimipl.training.reports": ("EpochReport",),
    "elimipl.training.splits": ("group_folds", "stratified_splits"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
__all__ = ["explain", *_HOME_OF]


def __getattr__(name: str) -> Any:
    if name == "explain":
        return import_module("elimipl.answers.explain")
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
