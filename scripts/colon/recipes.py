"""What each model of real tissue is made of: how its bags are drawn and what it learns with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from elimipl.config import Config

METHODS = ("elimipl", "demipl")
CLASSICAL = ("row", "sbn", "kmeansseg", "sift")
"""The generators of the paper."""

SMALL = {
    "hidden": 64, "gate": "two", "gate_width": 64, "score": "linear", "lr": 0.1, "nesterov": True, "clip": 0.0,
    "batch": 128, "epochs": 40, "dropout": 0.3,
}  # fmt: skip
GENTLE = {**SMALL, "mu": 0.03, "gamma": 0.3}
WIDE = {**SMALL, "hidden": 512, "gate": "shared", "score": "mlp", "lr": 0.2, "dropout": 0.5, "mu": 0.1, "gamma": 1.0}
"""A wide embedding with larger steps, for KMeansSeg's few and short instances."""
CELLS = {
    **SMALL, "hidden": 128, "dropout": 0.5, "epochs": 15, "mu": 0.1, "gamma": 1.0, "weight_decay": 1e-3, "clip": 5.0,
}  # fmt: skip


@dataclass(frozen=True)
class Mixture:
    """How many bags of which kind."""

    per_class: int
    """Whole pictures of each class of a source; few pictures are drawn repeatedly."""
    by_mask: int = 0
    by_class: int = 0
    """For each of tissue7 and kather8; lesion5 a quarter of it."""


@dataclass(frozen=True)
class Recipe:
    """How the bags of a generator are made and learned from."""

    whole: Mixture
    """Bags of the model that ships."""
    small: Mixture
    """Bags of the models without a fold, which calibrate."""
    abroad: Mixture
    """Bags of the models without a source."""
    stain: str = "none"
    copies: Mapping[str, int] = field(default_factory=dict)
    """Augmented copies of the pictures of a source: tissue7 has a dozen of some classes."""
    settings: Mapping[str, Any] = field(default_factory=dict)

    def config(self, method: str) -> Config:
        """The training settings of a method."""
        return config(method, self.settings)


def config(method: str, settings: Mapping[str, Any]) -> Config:
    """Settings of a method; μ and γ are ELIMIPL's own and do not reach DEMIPL."""
    own = {} if method == "elimipl" else {"mu": 0.0, "gamma": 0.0}
    return Config.preset("default", method=method, seed=0, **{**settings, **own})


def recipe(space: str, generator: str) -> Recipe:
    """How the models of a label space and generator are made."""
    if generator == "deep":
        return Recipe(
            Mixture(250, 6000, 3000), Mixture(120, 3200, 1600), Mixture(40, 1600, 800), "none", {"tissue7": 3}, CELLS
        )
    settings = {"kmeansseg": WIDE, "sift": {**GENTLE, "hidden": 128, "weight_decay": 1e-3}}.get(generator, GENTLE)
    if space == "tissue7":
        return Recipe(Mixture(120), Mixture(120), Mixture(120), "none", {"tissue7": 7}, settings)
    stain = "none" if generator == "sift" else "tones"  # SIFT sees no colours
    if generator in ("sift", "kmeansseg"):  # large bags, or a wide network: fewer pictures, or it takes hours
        tissue7 = 1 if generator == "sift" else 3
        return Recipe(Mixture(120), Mixture(60), Mixture(30), stain, {"tissue7": tissue7}, settings)
    return Recipe(Mixture(250), Mixture(120), Mixture(80), stain, {"tissue7": 3}, settings)
