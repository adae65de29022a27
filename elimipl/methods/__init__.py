"""Every method of the paper's comparison under one set of verbs: `METHODS[name].config(...)`, then `.fit(...)`.

>>> method = METHODS["PRODEN-Mean"]
>>> method.config(epochs=20, seed=3).epochs
20

A fitted method predicts: `method.fit(bags, config).predict(other_bags).accuracy(other_bags.labels)`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, Literal, Protocol

import numpy as np

from bag_generators.errors import InputError
from elimipl.dataset import BagDataset
from elimipl.methods import lws, miplgp, network, partial_label, pl_aggd, proden, rc
from elimipl.methods.settings import Settings
from elimipl.training import loop
from elimipl.training.reports import EpochReport

__all__ = ["METHODS", "FittedMethod", "Method", "MethodConfig"]


class MethodConfig(Protocol):
    """The settings of a method: frozen and validated."""

    @property
    def seed(self) -> int:
        """What every random draw depends on."""

    def replace(self, **changes: Any) -> MethodConfig:
        """A copy with some settings changed, validated again."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""


class BagPredictions(Protocol):
    """What a method says about m bags."""

    @property
    def probabilities(self) -> np.ndarray:
        """(m, k) float64."""

    def accuracy(self, labels: np.ndarray) -> float | None:
        """Share of bags whose most probable class is the label."""


class FittedMethod(Protocol):
    """A trained method. Those that have choices to tell of also have `notes`, a tuple of sentences."""

    @property
    def history(self) -> Sequence[EpochReport]:
        """What happened, epoch by epoch."""

    def predict(self, dataset: BagDataset) -> BagPredictions:
        """Class probabilities of every bag."""


@dataclass(frozen=True)
class Method:
    """One line of the comparison."""

    name: str
    title: str
    family: Literal["MIPL", "PLL"]
    """Whether it learns from bags of instances, or from one vector a bag."""
    summary: str
    config: Callable[..., Any]
    """`config(**settings)`: a `MethodConfig`; what makes no sense is refused with a sentence."""
    fit: Callable[..., FittedMethod]
    """`fit(dataset, config, *, on_epoch=None, should_stop=None, device="auto")`."""


def _fixed(settings: type[Settings], **fixed: str) -> Callable[..., Settings]:
    """Settings of which some belong to the name of the method and can't be given another value."""

    def config(**given: Any) -> Settings:
        for name, value in fixed.items():
            if given.get(name, value) != value:
                raise InputError(f"{name} can't be {given[name]!r} here.", f"This method has {name}={value!r}.")
        return settings.of(**{**given, **fixed})

    return config


def _multi_instance_methods() -> list[Method]:
    paper = [
        Method(name, name, "MIPL", summary, partial(network.paper_config, name), loop.fit)
        for name, summary in network.SUMMARIES.items()
    ]
    gaussian = Method(
        "MIPLGP",
        "MIPLGP",
        "MIPL",
        "Gaussian processes on instances that inherit their bag's candidates and a negative class.",
        miplgp.MiplgpConfig.of,
        miplgp.fit,
    )
    ours = Method(
        "ELIMIPL-entropy",
        "ELIMIPL with candidate entropy",
        "MIPL",
        "ELIMIPL with the entropy over the candidates as its sparsity loss, and the settings that measured best here.",
        network.entropy_config,
        loop.fit,
    )
    return [*paper[:2], gaussian, *paper[2:], ours]


_FEATURES = {"Mean": "mean", "MaxMin": "maxmin"}
_DESCRIBED = {"Mean": "the mean instance", "MaxMin": "the largest and least value of each feature"}
_LEARNERS: dict[str, tuple[type[Settings], str]] = {
    "PRODEN": (proden.ProdenConfig, "Cross-entropy weighted by the outputs of each step"),
    "RC": (rc.RcConfig, "Cross-entropy weighted by the outputs after each step"),
    "LWS": (lws.LwsConfig, "Leveraged sigmoid loss that lifts candidates and lowers the others"),
}


def _partial_label_methods() -> list[Method]:
    methods = []
    for backbone, infix, words in (("linear", "", "linear model"), ("mlp", "-MLP", "one-hidden-layer network")):
        for learner, (settings, idea) in _LEARNERS.items():
            for suffix, features in _FEATURES.items():
                name = f"{learner}{infix}-{suffix}"
                title = f"{learner} ({suffix}{', MLP' if infix else ''})"
                summary = f"{idea}; a {words} of {_DESCRIBED[suffix]}."
                config = _fixed(settings, features=features, backbone=backbone)
                methods.append(Method(name, title, "PLL", summary, config, partial_label.fit))
    for suffix, features in _FEATURES.items():
        name, title = f"PL-AGGD-{suffix}", f"PL-AGGD ({suffix})"
        summary = f"Spreads label confidences over a graph of neighbours; kernel ridge of {_DESCRIBED[suffix]}."
        config = _fixed(pl_aggd.PlAggdConfig, features=features)
        methods.append(Method(name, title, "PLL", summary, config, pl_aggd.fit))
    return methods


METHODS: Mapping[str, Method] = MappingProxyType(
    {method.name: method for method in (*_multi_instance_methods(), *_partial_label_methods())}
)
"""All methods by name, in the order of the paper's tables."""
