"""ELIMIPL, DEMIPL and the variants of the ablations, by name: one `fit` with other settings."""

from __future__ import annotations

from typing import Any

from elimipl.config import Config
from elimipl.variants import method_config

SUMMARIES = {
    "ELIMIPL": "Pools instances by scaled attention; maps candidates by momentum weights, asks for sparsity and "
    "inhibits non-candidates.",
    "DEMIPL": "The predecessor: sigmoid attention and momentum weights, no sparsity and no inhibition.",
    "MA": "ELIMIPL with the mapping loss alone.",
    "MA+SP": "ELIMIPL without the inhibition loss.",
    "MA+IN": "ELIMIPL without the sparsity loss.",
    "CE": "Cross-entropy averaged over the candidates, on ELIMIPL's network.",
    "CE-SP-IN": "ELIMIPL with averaged cross-entropy in the place of the mapping loss.",
}


def paper_config(name: str, *, preset: str = "published", **settings: Any) -> Config:
    """A method of the paper: as its authors' code computes it, unless another preset is asked for; ℓ1 sparsity.

    Settings that a variant leaves out by definition (μ of MA+IN, say) are left out.
    """
    return method_config(name, preset=preset, **{"sparsity": "l1", **settings})


def entropy_config(*, preset: str = "default", **settings: Any) -> Config:
    """ELIMIPL with the entropy over the candidates, which can prefer one of them, in the place of ℓ1."""
    return method_config("ELIMIPL", preset=preset, **{**settings, "sparsity": "entropy"})
