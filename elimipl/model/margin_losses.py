"""Losses of ELIMIPL's successors on the margin between the classes of a bag: MIPLMA's and CDL's.

p = softmax of the energies (B, k); q = max_{c∈S} p_c, the best candidate. Each is the mean over the B bags of a step,
left to autograd. A maximum over no class at all counts as 0: of the non-candidates where S holds every class, of the
second candidate where S holds one.
"""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor

from elimipl.config import Config
from elimipl.model.losses import mapping_loss
from elimipl.registries import Loss

_LEAST_FACTOR = 1e-12
_LEAST_VARIANCE = 1e-12


def cdl_cc_loss(energies: Tensor, candidates: Tensor, weights: Tensor, config: Config) -> Tensor:
    """CDL against the second best candidate (Tang et al. 2026): (1 − (q − φ))^γ · (−Σ_S w_c log p_c), φ = second in S.

    γ is the setting `focus`. The factor has a gradient, too; the weights have none.
    """
    best = energies.softmax(1).masked_fill(~candidates, 0).topk(2, dim=1).values  # (B, 2); k is at least 2
    return _focused(energies, weights, best[:, 0] - best[:, 1], config.focus)


def cdl_cn_loss(energies: Tensor, candidates: Tensor, weights: Tensor, config: Config) -> Tensor:
    """CDL against the best non-candidate: the same with φ = max_{c∉S} p_c; above 1 where a non-candidate leads."""
    return _focused(energies, weights, _margin(energies, candidates), config.focus)


def margin_loss(energies: Tensor, candidates: Tensor, weights: Tensor, config: Config) -> Tensor:
    """MIPLMA as its published code computes it: −Σ_S w_c log p_c + λ (φ/2) / (1 − φ/√2), bag by bag.

    φ = ½ (1 − (q − max_{c∉S} p_c)). The paper means mean(φ)/(1 − √var(φ)) over an epoch's bags; the code takes mean and
    deviation of the pair {0, φ}, a fixed function of one bag. λ is the setting `margin`.
    """
    phi = (1 - _margin(energies, candidates)) / 2
    return mapping_loss(energies.log_softmax(1), weights) + config.margin * (phi / 2 / (1 - phi / 2**0.5)).mean()


def margin_batch_loss(energies: Tensor, candidates: Tensor, weights: Tensor, config: Config) -> Tensor:
    """MIPLMA as its paper means it, over the bags of a real batch: −Σ_S w_c log p_c + λ mean(φ) / (1 − √var(φ)).

    φ is halved as in the code, so that the deviation (of the batch, not an estimate) can't pass ½. A batch of one bag
    has no deviation and is left with the mean.
    """
    phi = (1 - _margin(energies, candidates)) / 2
    deviation = (phi.var(correction=0) + _LEAST_VARIANCE).sqrt()  # the slope of √ at 0 would not be finite
    return mapping_loss(energies.log_softmax(1), weights) + config.margin * phi.mean() / (1 - deviation)


def _margin(energies: Tensor, candidates: Tensor) -> Tensor:
    """max_{c∈S} p_c − max_{c∉S} p_c of each bag, (B,)."""
    p = energies.softmax(1)
    return p.masked_fill(~candidates, 0).amax(1) - p.masked_fill(candidates, 0).amax(1)


def _focused(energies: Tensor, weights: Tensor, margin: Tensor, gamma: float) -> Tensor:
    """The mean of (1 − margin)^γ · (−Σ w log p)."""
    each = -(weights * energies.log_softmax(1)).sum(1)
    return ((1 - margin).clamp_min(_LEAST_FACTOR) ** gamma * each).mean()


MARGIN_LOSSES: Mapping[str, Loss] = {
    "cdl-cc": cdl_cc_loss,
    "cdl-cn": cdl_cn_loss,
    "margin": margin_loss,
    "margin-batch": margin_batch_loss,
}
"""By the names that the setting `loss` has for them."""
