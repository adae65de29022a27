"""Every method of the paper's comparison under one set of verbs: `METHODS[name].config(...)`, then `.fit(...)`.

>>> method = METHODS["PRODEN-Mean"]
>>> method.config(epochs=20, seed=3).epochs
20

A fitted method predicts: `method.fit(bags, config).predict(other_bags).accuracy(other_bags.labels)`. Methods of others
join by `register_method`, or from an installed package by the entry point `elimipl.methods`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, Protocol, get_args

from bag_generators.base.errors import InputError
from bag_generators.base.plugins import Registry
from elimipl.config import Config, Settings
from elimipl.datasets.dataset import BagDataset
from elimipl.methods import agopmipl, fastmipl, miplgp, networks, partial_label, pl_aggd, promipl
from elimipl.methods.learner import fit
from elimipl.model.inference import Predictions
from elimipl.training import loop
from elimipl.training.reports import EpochReport

__all__ = [
    "METHODS",
    "FittedMethod",
    "Method",
    "find_method",
    "network_method",
    "network_methods",
    "register_method",
    "settings_for",
    "training_config",
]

Family = Literal["MIPL", "PLL"]


class FittedMethod(Protocol):
    """A trained method. Those that explain their choices also have `notes`, a tuple of sentences."""

    @property
    def history(self) -> Sequence[EpochReport]:
        """What happened, epoch by epoch."""

    def predict(self, dataset: BagDataset) -> Predictions:
        """Class probabilities of every bag."""


@dataclass(frozen=True)
class Method:
    """One line of the comparison."""

    name: str
    title: str
    family: Family
    """Whether it learns from bags of instances, or from one vector per bag."""
    summary: str
    config: Callable[..., Any]
    """`config(**settings)`: a `Settings`; what makes no sense is refused with a sentence."""
    fit: Callable[..., FittedMethod]
    """`fit(dataset, config, *, on_epoch=None, should_stop=None, device="auto")`."""

    @property
    def is_network(self) -> bool:
        """Whether it trains the program's own network, so that it has attention, a card and a place on the pages."""
        return self.fit is loop.fit


def _fixed(settings: type[Settings], **fixed: str | bool) -> Callable[..., Settings]:
    """Settings of which some belong to the name of the method and can't be given another value."""

    def config(**given: Any) -> Settings:
        for name, value in fixed.items():
            if given.get(name, value) != value:
                raise InputError(f"{name} can't be {given[name]!r} here.", f"This method has {name}={value!r}.")
        return settings.of(**{**given, **fixed})

    return config


def _multi_instance_methods() -> list[Method]:
    def row(name: str, summary: str, config: Callable[..., Any], fit: Callable[..., Any], title: str = "") -> Method:
        return Method(name, title or name, "MIPL", summary, config, fit)

    paper = [
        row(name, summary, partial(networks.paper_config, name), loop.fit)
        for name, summary in networks.SUMMARIES.items()
    ]
    gaussian = "Gaussian processes on instances that inherit their bag's candidates and a negative class."
    entropy = (
        "ELIMIPL with the entropy over the candidates as its sparsity loss, and the settings that measured best here."
    )
    probabilistic = "Guesses the label between a bag and its candidate set, and makes the candidate set of it again."
    fast = "A Bayesian linear score and attention for each class, learned from all bags at once."
    published = "FastMIPL with the statistics of the test bags, and dropout at prediction."
    along = "Attention by class prototypes, seen along the directions that the classifier has found useful."
    return [
        *paper[:2],
        row("MIPLGP", gaussian, miplgp.MiplgpConfig.of, fit),
        *paper[2:],
        row("ELIMIPL-entropy", entropy, networks.entropy_config, loop.fit, "ELIMIPL with candidate entropy"),
        *(row(name, said, partial(networks.since_config, name), loop.fit) for name, said in networks.SINCE.items()),
        row("ProMIPL", probabilistic, promipl.ProMiplConfig.of, fit),
        row("FastMIPL", fast, _fixed(fastmipl.FastMiplConfig, published=False), fit),
        row("FastMIPL-published", published, _fixed(fastmipl.FastMiplConfig, published=True), fit),
        row("AGOPMIPL", along, agopmipl.AgopConfig.of, fit),
    ]


_FEATURES = {"Mean": "mean", "MaxMin": "maxmin"}
_DESCRIBED = {"Mean": "the mean instance", "MaxMin": "the largest and least value of each feature"}
_LEARNERS: dict[str, tuple[type[Settings], str]] = {
    "PRODEN": (partial_label.ProdenConfig, "Cross-entropy weighted by the outputs of each step"),
    "RC": (partial_label.RcConfig, "Cross-entropy weighted by the outputs after each step"),
    "LWS": (partial_label.LwsConfig, "Leveraged sigmoid loss that lifts candidates and lowers the others"),
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
                methods.append(Method(name, title, "PLL", summary, config, fit))
    for suffix, features in _FEATURES.items():
        name, title = f"PL-AGGD-{suffix}", f"PL-AGGD ({suffix})"
        summary = f"Spreads label confidences over a graph of neighbours; kernel ridge of {_DESCRIBED[suffix]}."
        config = _fixed(pl_aggd.PlAggdConfig, features=features)
        methods.append(Method(name, title, "PLL", summary, config, fit))
    return methods


def _checked(method: Any) -> Method:
    if not isinstance(method, Method) or not callable(method.config) or not callable(method.fit):
        raise InputError(f"{method!r} is not a method.", "Give an elimipl.Method with a config and a fit.")
    if method.family not in get_args(Family):
        raise InputError(f"There is no family {method.family!r}.", f"Choose one of {', '.join(get_args(Family))}.")
    return method


METHODS: Registry[Method] = Registry(
    "method",
    "elimipl.methods",
    ((method.name, method) for method in (*_multi_instance_methods(), *_partial_label_methods())),
    _checked,
)
"""All methods by name, in the order of the paper's tables; registered ones follow."""


def register_method(method: Method) -> None:
    """Make a method known under its name: to the benchmark, and to the Train page if it is a network."""
    METHODS.register(_checked(method).name, method)


def network_method(name: str, summary: str, *, title: str = "", preset: str = "default", **fixed: Any) -> Method:
    """A method that trains the program's own network with settings of its own, which win over others given later.

    >>> network_method("Wide", "A wide embedding.", hidden=2048).config(hidden=8, epochs=5).hidden
    2048
    """

    def config(*, preset: str = preset, **given: Any) -> Config:
        return Config.preset(preset, **{**given, **fixed})

    return Method(name, title or name, "MIPL", summary, config, loop.fit)


def find_method(name: str) -> Method:
    """A method by its name in upper or lower case.

    >>> find_method("cdl-sam-cn").name
    'CDL-SAM-CN'
    """
    found = {known.casefold(): known for known in METHODS}.get(str(name).casefold())
    if found is None:
        raise InputError(f"There is no method “{name}”.", f"Choose one of {', '.join(METHODS)}.")
    return METHODS[found]


def settings_for(method: Method, *, preset: str = "default", **changes: Any) -> Settings:
    """The settings of a method with some changed: networks start from the preset, others from their own papers'."""
    config: Settings
    if method.name in network_methods():
        return training_config(method.name, preset=preset, **changes)
    if method.is_network:
        config = method.config(preset=preset, **changes)
        return config
    if preset != "default":
        raise InputError(f"{method.name} has no presets.", "Leave out the preset.")
    config = method.config(**changes)
    return config


def network_methods() -> tuple[str, ...]:
    """The methods that a person can train on a page: the paper's, those since, then registered ones."""
    return (*networks.SUMMARIES, *networks.SINCE, *(name for name in METHODS.added if METHODS[name].is_network))


def training_config(name: str, **settings: Any) -> Config:
    """Settings of one of `network_methods`, with the `default` preset where the method has none of its own."""
    if name not in network_methods():
        if name in METHODS:
            raise InputError(
                f"{name} doesn't train the network that makes a model of this program.",
                "Choose another method here, or compare it with “python -m elimipl benchmark”.",
            )
        raise InputError(f"There is no method {name!r}.", f"Choose one of {', '.join(network_methods())}.")
    if name in networks.SUMMARIES:
        return networks.method_config(name, **settings)
    if name in networks.SINCE:
        return networks.since_config(name, **{"preset": "default", **settings})
    config: Config = METHODS[name].config(**settings)
    return config
