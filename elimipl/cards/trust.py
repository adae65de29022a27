"""How far a model's explanations can be trusted, as `elimipl.trust` measured it for the card."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from bag_generators.validation import STRICT, Whole


@dataclass(frozen=True)
class MethodTrust:
    """How well one way of ranking the instances of a bag does; averages over bags."""

    __pydantic_config__ = STRICT

    auroc: float | None
    """Chance that an instance which carries the label ranks above one which doesn't; None without instance truth."""
    average_precision: float | None
    area: float
    """Probability of the predicted class while instances are removed from most to least relevant; low is good."""
    gain: float
    """How far that lies below the area of random orders; 0 is chance."""
    gain_low: float
    gain_high: float
    """95 % confidence interval of the gain, over bags."""
    agreement: float | None
    """Spearman's correlation with leave-one-out."""


@dataclass(frozen=True)
class FirstMap:
    """Which map to show first, and how well it finds what carries the class."""

    __pydantic_config__ = STRICT

    name: Literal["attention", "vote", "contribution", "attention of the answer"]
    auroc: float
    """Mean over pictures of the pixel AUROC."""
    darkness: float
    """The same of how dark a place is."""
    untrained: float
    """The same of a network that has learned nothing."""
    n: Whole
    on: str
    chosen_on: str
    others: Mapping[str, float]
    """The same of the other maps, on the pictures that chose."""


@dataclass(frozen=True)
class Trust:
    """What was measured on `bags` bags, of which `located` hold both instances that carry the label and others."""

    __pydantic_config__ = STRICT

    on: str
    bags: Whole
    located: Whole
    positive_share: float | None
    """Share of the instances that carry the label, in an average located bag."""
    evenness: float
    """Entropy of the attention over that of an even one: 1 where the model looks at all instances alike."""
    random_area: float
    """The area of random orders."""
    methods: Mapping[str, MethodTrust]
    """Attention, contribution, single, leave-one-out, integrated gradients."""
    random_weights: Mapping[str, MethodTrust]
    """The same with rankings by networks that have learned nothing, which have to come out at chance."""
    seed: Whole
