"""Equations 5–9 for m bags, the weights of eq. 6, the derivative of the total by the energies e whose softmax is p, and
the losses of successors.

The derivatives are short closed forms: they stay finite for any finite energies, show what each loss pulls at, and
spare most of the cost of differentiating small tensors; values are only needed once an epoch, for the report.
Shapes: energies, log_p (m, k); candidates (m, k) bool, at least one True a row; weights (m, k), a distribution on the
candidates; scores (N,).
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor
from torch.nn import functional

from elimipl.config import Config
from elimipl.registries import Loss


@torch.no_grad()
def loss_values(
    energies: Tensor, scores: Tensor, candidates: Tensor, weights: Tensor, config: Config
) -> dict[str, float]:
    """The parts of eq. 9 (unweighted; 0 where unused), DEMIPL's attention entropy, and the weighted total."""
    parts = _parts(energies, candidates, weights, config)
    if config.attention_entropy > 0:
        parts["attention"] = attention_entropy(scores, len(energies)), config.attention_entropy
    values = dict.fromkeys(("mapping", "sparsity", "inhibition", "attention"), 0.0)
    values |= {name: float(value) for name, (value, _) in parts.items()}
    return {**values, "total": sum(share * values[name] for name, (_, share) in parts.items())}


@torch.no_grad()
def loss_gradient(energies: Tensor, candidates: Tensor, weights: Tensor, config: Config) -> Tensor:
    """dL/de of eq. 9 (m, k)."""
    log_p = energies.log_softmax(1)
    p = log_p.exp()
    gradient = p - weights  # of the mapping loss
    if _uses_sparsity(config):
        pull = l1_gradient(p, candidates) if config.sparsity == "l1" else entropy_gradient(log_p, candidates)
        gradient.add_(pull, alpha=config.mu)
    if config.gamma > 0:
        gradient.add_(inhibition_gradient(log_p, p, candidates), alpha=config.gamma)
    return gradient / len(energies)


def cli_loss(energies: Tensor, candidates: Tensor, weights: Tensor, config: Config) -> Tensor:
    """Eq. 9 as printed, left to autograd: what `loss_gradient` has to be the derivative of."""
    parts = _parts(energies, candidates, weights, config).values()
    return sum((share * value for value, share in parts), start=energies.new_zeros(()))


def _parts(energies: Tensor, candidates: Tensor, weights: Tensor, config: Config) -> dict[str, tuple[Tensor, float]]:
    """The losses of eq. 9 that are in use, and how much each weighs."""
    log_p = energies.log_softmax(1)
    parts = {"mapping": (mapping_loss(log_p, weights), 1.0)}
    if _uses_sparsity(config):
        sparsity = l1_sparsity if config.sparsity == "l1" else entropy_sparsity
        parts["sparsity"] = sparsity(log_p, candidates), config.mu
    if config.gamma > 0:
        parts["inhibition"] = inhibition_loss(log_p, candidates), config.gamma
    return parts


def mapping_loss(log_p: Tensor, weights: Tensor) -> Tensor:
    """−(1/m) Σ_i Σ_{c∈S_i} w_ic log p_ic (eq. 5). Derivative: p − w."""
    return -(weights * log_p).sum() / len(log_p)


def l1_sparsity(log_p: Tensor, candidates: Tensor) -> Tensor:
    """(1/m) Σ_i ‖p_i ⊙ s_i‖₁, the paper's surrogate of eq. 7.

    Since p sums to one this is 1 − (mass off S): moving mass between candidates doesn't change it, so it can't favour
    one of them.
    """
    return (log_p.exp() * candidates).sum() / len(log_p)


def l1_gradient(p: Tensor, candidates: Tensor) -> Tensor:
    """p_j (s_j − Σ_{c∈S} p_c) of each bag: all candidates fall together."""
    inside = candidates.to(p.dtype)
    return p * (inside - (p * inside).sum(1, keepdim=True))


def entropy_sparsity(log_p: Tensor, candidates: Tensor) -> Tensor:
    """(1/m) Σ_i H(q_i), q = p renormalised on S: least when one candidate holds all, as eq. 7 intends."""
    log_q = _only_candidates(log_p, candidates).log_softmax(1)
    return -(log_q.exp() * log_q).sum() / len(log_p)


def entropy_gradient(log_p: Tensor, candidates: Tensor) -> Tensor:
    """−q_j (log q_j + H(q)) of each bag: likely candidates rise, unlikely ones fall."""
    log_q = _only_candidates(log_p, candidates).log_softmax(1)
    q = log_q.exp()
    pointwise = q * log_q
    return q * pointwise.sum(1, keepdim=True) - pointwise


def inhibition_loss(log_p: Tensor, candidates: Tensor) -> Tensor:
    """−(1/m) Σ_i Σ_{c∉S_i} log(1 − p_ic) (eq. 8), where 1 − p_c is summed over the other classes."""
    return -(_without_itself(log_p).logsumexp(2) * ~candidates).sum() / len(log_p)


def inhibition_gradient(log_p: Tensor, p: Tensor, candidates: Tensor) -> Tensor:
    """Σ_{c∉S} (p_j − r_cj) of each bag, r_c = p renormalised without class c: finite even where p_c rounds to one."""
    outside = (~candidates).to(p.dtype)  # (m, k)
    without = torch.bmm(outside.unsqueeze(1), _without_itself(log_p).softmax(2)).squeeze(1)
    return p * outside.sum(1, keepdim=True) - without


def attention_entropy(scores: Tensor, bags: int) -> Tensor:
    """(1/m) Σ_i Σ_j −a_ij log a_ij with DEMIPL's unnormalised a = sigm(ξ)."""
    return -(scores.sigmoid() * functional.logsigmoid(scores)).sum() / bags


def attention_entropy_gradient(scores: Tensor, bags: int) -> Tensor:
    """−a (1 − a) (log a + 1) / m, by ξ (N,)."""
    a = scores.sigmoid()
    return a * (a - 1) * (functional.logsigmoid(scores) + 1) / bags


def candidate_distribution(energies: Tensor, candidates: Tensor) -> Tensor:
    """p_c / Σ_{c'∈S} p_c' on the candidates and 0 elsewhere: the second term of eq. 6."""
    return _only_candidates(energies, candidates).softmax(1)


def initial_weights(candidates: Tensor, dtype: torch.dtype = torch.float64) -> Tensor:
    """w⁰ = 1/|S| on the candidates and 0 elsewhere, for (m, k) bool candidates."""
    return candidates.to(dtype) / candidates.sum(1, keepdim=True)


def move_weights(weights: Tensor, energies: Tensor, candidates: Tensor, rho: float) -> None:
    """w^t = ρ w^{t−1} + (1−ρ) p_c / Σ_{c'∈S} p_c' (eq. 6), in place; all (B, k)."""
    weights.lerp_(candidate_distribution(energies, candidates), 1 - rho)


def _uses_sparsity(config: Config) -> bool:
    return config.mu > 0 and config.sparsity != "none"


def _only_candidates(values: Tensor, candidates: Tensor) -> Tensor:
    # A finite floor instead of −inf: 0·(−inf) would make the entropy NaN.
    return values.masked_fill(~candidates, torch.finfo(values.dtype).min / 4)


def _without_itself(log_p: Tensor) -> Tensor:
    """(m, c, j): log p_j, with −inf at j = c."""
    itself = torch.eye(log_p.shape[1], dtype=torch.bool, device=log_p.device)
    return log_p.unsqueeze(1).masked_fill(itself, -torch.inf)


# ELIMIPL's successors, on the margin between the classes of a bag, left to autograd. q = max_{c∈S} p_c is the best
# candidate. A maximum over no class at all counts as 0: of the non-candidates where S holds every class, of the second
# candidate where S holds one.
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
