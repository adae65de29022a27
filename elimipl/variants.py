"""ELIMIPL, its predecessor and the variants of the ablation tables: one network, one training loop."""

from __future__ import annotations

from typing import Any

from bag_generators.errors import InputError
from elimipl.config import VARIANTS, Config

METHODS = ("ELIMIPL", "DEMIPL", "MA", "MA+SP", "MA+IN", "CE-SP-IN", "CE")
"""The method, its predecessor, and the variants of the two ablation tables."""


def method_config(name: str, *, preset: str = "default", **settings: Any) -> Config:
    """A preset of a method with `settings` changed; settings a method doesn't have are left out.

    >>> method_config("MA+IN", mu=3.0, gamma=2.0).mu, method_config("MA+IN", mu=3.0, gamma=2.0).gamma
    (0.0, 2.0)
    """
    if name not in METHODS:
        raise InputError(f"There is no method {name!r}.", f"Choose one of {', '.join(METHODS)}.")
    if name == "DEMIPL":
        shared = {key: value for key, value in settings.items() if key not in ("sparsity", "mu", "gamma")}
        return Config.preset(preset, **{**shared, "method": "demipl"})
    config = Config.preset(preset, **settings)
    return config.variant(name) if name in VARIANTS else config


def uses(name: str, setting: str) -> bool:
    """Whether a method has the weight `mu` (sparsity) or `gamma` (inhibition)."""
    return name != "DEMIPL" and setting not in VARIANTS.get(name, {})
