"""ELIMIPL, its predecessor, its variants and its successors by name: one network, one `fit`, other settings."""

from __future__ import annotations

from typing import Any

from bag_generators.base.errors import InputError
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
        return Config.preset(preset, **{**_without_cli(settings), "method": "demipl"})
    config = Config.preset(preset, **settings)
    return variant(config, name) if name in VARIANTS else config


def uses(name: str, setting: str) -> bool:
    """Whether a method has the weight `mu` (sparsity) or `gamma` (inhibition)."""
    if name == "DEMIPL" or (name in SINCE and name not in _WITH_CLI):
        return False
    return setting not in VARIANTS.get(name, {})


def paper_config(name: str, *, preset: str = "published", **settings: Any) -> Config:
    """A method of the paper: as its authors' code computes it, unless another preset is asked for; ℓ1 sparsity.

    Settings that a variant leaves out by definition (μ of MA+IN, say) are left out.
    """
    return method_config(name, preset=preset, **{"sparsity": "l1", **settings})


def entropy_config(*, preset: str = "default", **settings: Any) -> Config:
    """ELIMIPL with the entropy over the candidates, which can prefer one of them, in the place of ℓ1."""
    return method_config("ELIMIPL", preset=preset, **{**settings, "sparsity": "entropy"})


def _without_cli(settings: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in settings.items() if key not in ("sparsity", "mu", "gamma")}


_OF_CDL = {"DAM": "DEMIPL's attention", "SAM": "ELIMIPL's attention", "MAM": "MIPLMA's attention"}
_PHI = {"CC": "second candidate", "CN": "best non-candidate"}
_CDL = {
    f"CDL-{attention}-{phi}": f"Mapping loss times (1 − margin to the {_PHI[phi]}), on {words} and a plain softmax."
    for attention, words in _OF_CDL.items()
    for phi in _PHI
}

SINCE: dict[str, str] = {
    "MIPLMA": "Attention that cools down, and a loss on the margin between candidates and non-candidates, bag by bag.",
    "MIPLMA-batch": "MIPLMA with the mean and the deviation of the margins of a real batch.",
    **_CDL,
    **{f"{name}-sigmoid": f"{name} with the head of ELIMIPL's published code." for name in _CDL},
    "DAM-CLI": "ELIMIPL with DEMIPL's attention.",
    "ELIMIPL-unscaled": "ELIMIPL without the 1/√l of its attention.",
    "ELIMIPL-kept": "ELIMIPL whose extractor is trained every fourth epoch; the rest learns from kept features.",
    "ABMIL": "Gated attention that learns from the true labels: the reference with nothing hidden.",
}
"""Methods since ELIMIPL that train its network with another attention, loss or head (docs/methods.md).

CDL (Tang et al. 2026) multiplies the mapping loss by a margin and has a plain softmax; `…-sigmoid` gives it the head of
ELIMIPL's published code, which tells what the loss gains and what the head. MIPLMA (Tang et al. 2024) cools its
attention and adds a margin loss. DAM-CLI and ELIMIPL-unscaled are ablations of ELIMIPL's appendix (its Tables A4 and
A5). ABMIL (Ilse, Tomczak and Welling 2018) is told the true labels. ELIMIPL-kept is a cheaper way to train ELIMIPL on
pictures; where ψ1 has nothing to learn, it is ELIMIPL.
"""


_WITH_CLI = ("DAM-CLI", "ELIMIPL-unscaled", "ELIMIPL-kept")


def since_config(name: str, *, preset: str = "published", **settings: Any) -> Config:
    """The settings of a method as its authors' code has them, unless another preset is asked for.

    Settings a method doesn't have (μ and γ of the conjugate label information) are left out.

    >>> since_config("CDL-SAM-CN").loss, since_config("CDL-SAM-CN-sigmoid").head
    ('cdl-cn', 'softmax_of_sigmoid')
    """
    settings = {"sparsity": "l1", **settings} if name in _WITH_CLI else _without_cli(settings)
    if name.endswith("-sigmoid"):
        settings["head"] = "softmax_of_sigmoid"
    return Config.preset(preset, **{**settings, "method": name.removesuffix("-sigmoid").lower()})
