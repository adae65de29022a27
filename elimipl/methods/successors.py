"""Methods since ELIMIPL that train its network with another attention, loss or head, by name: one `fit` for all.

CDL (Tang et al. 2026) multiplies the mapping loss by a margin and has a plain softmax; `…-sigmoid` gives it the head of
ELIMIPL's published code, which tells what the loss gains and what the head. MIPLMA (Tang et al. 2024) cools its
attention and adds a margin loss. DAM-CLI and ELIMIPL-unscaled are ablations of ELIMIPL's appendix (its Tables A4 and
A5). ABMIL (Ilse, Tomczak and Welling 2018) is told the true labels. docs/methods.md has the equations.
"""

from __future__ import annotations

from typing import Any

from elimipl.config import Config

_OF_CDL = {"DAM": "DEMIPL's attention", "SAM": "ELIMIPL's attention", "MAM": "MIPLMA's attention"}
_PHI = {"CC": "second candidate", "CN": "best non-candidate"}
_SIGMOID = "-sigmoid"

SUMMARIES: dict[str, str] = {
    "MIPLMA": "Attention that cools down, and a loss on the margin between candidates and non-candidates, bag by bag.",
    "MIPLMA-batch": "MIPLMA with the mean and the deviation of the margins of a real batch.",
    **{
        f"CDL-{attention}-{phi}": f"Mapping loss times (1 − margin to the {_PHI[phi]}), on {words} and a plain softmax."
        for attention, words in _OF_CDL.items()
        for phi in _PHI
    },
    **{
        f"CDL-{attention}-{phi}{_SIGMOID}": f"CDL-{attention}-{phi} with the head of ELIMIPL's published code."
        for attention in _OF_CDL
        for phi in _PHI
    },
    "DAM-CLI": "ELIMIPL with DEMIPL's attention.",
    "ELIMIPL-unscaled": "ELIMIPL without the 1/√l of its attention.",
    "ABMIL": "Gated attention that learns from the true labels: the reference with nothing hidden.",
}
"""Every method here, in the order of the tables."""

_WITH_CLI = ("DAM-CLI", "ELIMIPL-unscaled")


def config(name: str, *, preset: str = "published", **settings: Any) -> Config:
    """The settings of a method as its authors' code has them, unless another preset is asked for.

    Settings a method doesn't have (μ and γ of the conjugate label information) are left out.

    >>> config("CDL-SAM-CN").loss, config("CDL-SAM-CN").head, config("CDL-SAM-CN-sigmoid").head
    ('cdl-cn', 'softmax', 'softmax_of_sigmoid')
    """
    if name in _WITH_CLI:
        settings = {"sparsity": "l1", **settings}
    else:
        settings = {key: value for key, value in settings.items() if key not in ("sparsity", "mu", "gamma")}
    if name.endswith(_SIGMOID):
        settings["head"] = "softmax_of_sigmoid"
    return Config.preset(preset, **{**settings, "method": name.removesuffix(_SIGMOID).lower()})
