"""ELIMIPL, its predecessor and the variants of the ablation tables, by name: one network, one `fit`, other settings."""

from __future__ import annotations

from typing import Any

from bag_generators.errors import InputError
from elimipl.config import Config

SUMMARIES = {
    "ELIMIPL": "Pools instances by scaled attention; maps candidates by momentum weights, asks for sparsity and "
    "inhibits non-candidates.",
    "DEMIPL": "The predecessor: sigmoid attention and momentum weights, no sparsity and no inhibition.",
    "MA": "ELIMIPL with the mapping loss alone.",
    "MA+SP": "ELIMIPL without the inhibition loss.",
    "MA+IN": "ELIMIPL without the sparsity loss.",
    "CE-SP-IN": "ELIMIPL with averaged cross-entropy in the place of the mapping loss.",
    "CE": "Cross-entropy averaged over the candidates, on ELIMIPL's network.",
}
"""The method, its predecessor, and the variants of the two ablation tables."""

VARIANTS: dict[str, dict[str, Any]] = {
    "MA": {"mu": 0.0, "gamma": 0.0},
    "MA+SP": {"gamma": 0.0},
    "MA+IN": {"mu": 0.0},
    "CE": {"mapping": "average", "mu": 0.0, "gamma": 0.0},
    "CE-SP-IN": {"mapping": "average"},
}
"""What each variant of the ablation tables changes in the full method."""


def variant(config: Config, name: str) -> Config:
    """A run as one of the paper's ablations: MA, MA+SP, MA+IN, CE or CE-SP-IN.

    >>> variant(Config.preset("published"), "MA+IN").mu
    0.0
    """
    if name not in VARIANTS:
        raise InputError(f"There is no variant {name!r}.", f"Choose one of {', '.join(VARIANTS)}.")
    return config.replace(**VARIANTS[name])


def method_config(name: str, *, preset: str = "default", **settings: Any) -> Config:
    """A preset of a method with `settings` changed; settings a method doesn't have are left out.

    >>> method_config("MA+IN", mu=3.0, gamma=2.0).mu, method_config("MA+IN", mu=3.0, gamma=2.0).gamma
    (0.0, 2.0)
    """
    if name not in SUMMARIES:
        raise InputError(f"There is no method {name!r}.", f"Choose one of {', '.join(SUMMARIES)}.")
    if name == "DEMIPL":
        shared = {key: value for key, value in settings.items() if key not in ("sparsity", "mu", "gamma")}
        return Config.preset(preset, **{**shared, "method": "demipl"})
    config = Config.preset(preset, **settings)
    return variant(config, name) if name in VARIANTS else config


def uses(name: str, setting: str) -> bool:
    """Whether a method has the weight `mu` (sparsity) or `gamma` (inhibition)."""
    return name != "DEMIPL" and setting not in VARIANTS.get(name, {})


def paper_config(name: str, *, preset: str = "published", **settings: Any) -> Config:
    """A method of the paper: as its authors' code computes it, unless another preset is asked for; ℓ1 sparsity.

    Settings that a variant leaves out by definition (μ of MA+IN, say) are left out.
    """
    return method_config(name, preset=preset, **{"sparsity": "l1", **settings})


def entropy_config(*, preset: str = "default", **settings: Any) -> Config:
    """ELIMIPL with the entropy over the candidates, which can prefer one of them, in the place of ℓ1."""
    return method_config("ELIMIPL", preset=preset, **{**settings, "sparsity": "entropy"})
