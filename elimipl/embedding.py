"""The wide layer: ψ2 and everything linear behind it, as one differentiable step.

Equations 2–4 only ever meet h through linear maps: the gates read W_tᵀh and W_sᵀh, and since z = Σ a_j h_j
and the classifier is linear, W_cᵀz = Σ a_j (W_cᵀh_j). So one product h·[W_t | W_s | W_c] is all that is
needed of the N×l embedding; what follows is as narrow as the gates and the classes. The N×l array is made
once, in place, and its own zeros tell the backward pass what ReLU and dropout removed.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

_BITS_OF = {torch.float32: torch.int32, torch.float64: torch.int64}


def embed_and_project(
    x: Tensor,
    weight: Tensor,
    bias: Tensor,
    projections: Tensor,
    dropout: float,
    generator: torch.Generator | None,
) -> Tensor:
    """dropout(ReLU(x·weightᵀ + bias))·projectionsᵀ.

    x (N, d), weight (l, d), bias (l,), projections (c, l) → (N, c). Without a generator nothing is dropped.
    """
    kept = 256 - round(256 * dropout) if generator is not None else 256
    return _EmbedAndProject.apply(x, weight, bias, projections, kept, generator)


def keep_bits(count: int, kept: int, dtype: torch.dtype, generator: torch.Generator) -> Tensor:
    """`count` integers as wide as `dtype`, each all ones with probability kept/256 and else all zeros.

    A 32- or 64-bit word is that many coin flips; combining words by "or" and "and" along the binary digits
    of kept/256 makes coins of any bias, at a small part of the cost of one random number an element.
    """
    word = _BITS_OF[dtype]
    width = torch.iinfo(word).bits
    words = torch.zeros(-(-count // width), dtype=word, device=generator.device)
    for digit in range(8):
        if kept & ((2 << digit) - 1):  # nothing happens below the lowest digit that is set
            flips = torch.empty_like(words).random_(torch.iinfo(word).min, None, generator=generator)
            words = words | flips if kept >> digit & 1 else words & flips
    positions = torch.arange(width, dtype=word, device=generator.device)
    return (words[:, None] << positions).bitwise_right_shift_(width - 1).view(-1)[:count]


class _EmbedAndProject(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, x: Tensor, weight: Tensor, bias: Tensor, projections: Tensor, kept: int, generator: Any
    ) -> Tensor:
        h = torch.addmm(bias, x, weight.t()).relu_()  # (N, l)
        if kept < 256:
            h.view(_BITS_OF[h.dtype]).bitwise_and_(keep_bits(h.numel(), kept, h.dtype, generator).view(h.shape))
        ctx.scale = 256 / kept
        ctx.save_for_backward(x, weight, projections, h)
        return (h @ projections.t()).mul_(ctx.scale)  # (N, c)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        x, weight, projections, h = ctx.saved_tensors
        grad = grads[0] * ctx.scale  # (N, c)
        through = grad @ projections  # (N, l)
        torch.ops.aten.threshold_backward(through, h, 0, grad_input=through)  # zero where h is zero
        grad_x = through @ weight if ctx.needs_input_grad[0] else None
        return grad_x, (x.t() @ through).t(), through.sum(0), grad.t() @ h, None, None
