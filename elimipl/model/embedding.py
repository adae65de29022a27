"""The wide layer: ψ2 and everything linear behind it, as one differentiable step.

Equations 2–4 only ever meet h through linear maps: the gates read W_tᵀh and W_sᵀh, and since z = Σ a_j h_j and the
classifier is linear, W_cᵀz = Σ a_j (W_cᵀh_j). So one product h·[W_t | W_s | W_c] is all that is needed of the N×l
embedding; what follows is as narrow as the gates and the classes. The N×l array is made once, in place, and its own
zeros tell the backward pass what ReLU and dropout removed.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

_BITS_OF = {torch.bfloat16: torch.int16, torch.float32: torch.int32, torch.float64: torch.int64}


class SomeRows(NamedTuple):
    """A generator whose draws are for `rows` instances, of which some are here, from the `first` on."""

    generator: torch.Generator
    first: int
    rows: int


Draws = torch.Generator | SomeRows
"""Where dropout is drawn from."""


def embed_and_read(
    x: Tensor,
    weight: Tensor,
    bias: Tensor,
    readers: Tensor,
    readers_bias: Tensor,
    dropout: float,
    generator: Draws | None,
    half: bool = False,
) -> Tensor:
    """dropout(ReLU(x·weightᵀ + bias))·readersᵀ + readers_bias.

    x (N, d), weight (l, d), bias (l,), readers (c, l), readers_bias (c,) → (N, c). Dropout is rounded to 1/256 and
    scales up what it keeps; without a generator nothing is dropped. With `half` the products are of bfloat16 numbers.
    """
    kept = _kept(dropout, generator)
    return _EmbedAndRead.apply(x, weight, bias, readers, readers_bias, kept, generator, half)


def drop(h: Tensor, dropout: float, generator: Draws | None) -> Tensor:
    """The dropout of `embed_and_read` alone, left to autograd; the same generator drops the same numbers."""
    kept = _kept(dropout, generator)
    if kept == 256 or generator is None:
        return h
    return h * _keep(h, kept, generator).ne(0) * (256 / kept)


def _keep(h: Tensor, kept: int, draws: Draws) -> Tensor:
    """Which numbers of h (n, l) stay, as `keep_bits` has them."""
    generator, first, rows = draws if isinstance(draws, SomeRows) else (draws, 0, len(h))
    width = h.shape[1]
    return keep_bits(rows * width, kept, h.dtype, generator, first * width, h.numel()).view(h.shape)


def _kept(dropout: float, generator: Draws | None) -> int:
    """How many of 256 numbers stay."""
    return 256 if generator is None else 256 - round(256 * dropout)


def keep_bits(
    count: int, kept: int, dtype: torch.dtype, generator: torch.Generator, first: int = 0, length: int | None = None
) -> Tensor:
    """`count` integers as wide as `dtype`, each all ones with probability kept/256 and else all zeros.

    Of these the `length` from `first` on (default: all), as `SomeRows` has them.

    A 32- or 64-bit word is that many coin flips; combining words by "or" and "and" along the binary digits of kept/256
    makes coins of any bias, at a small part of the cost of one random number an element.
    """
    word = _BITS_OF[dtype]
    width = torch.iinfo(word).bits
    words: Tensor | None = None
    for digit in f"{kept:08b}".rstrip("0")[::-1]:
        flips = torch.empty(-(-count // width), dtype=word, device=generator.device)
        flips.random_(torch.iinfo(word).min, None, generator=generator)
        words = flips if words is None else words | flips if digit == "1" else words & flips
    assert words is not None, "kept must be in 1..255"
    last = count if length is None else first + length
    if (first, last) != (0, count):
        words = words[first // width : -(-last // width)]
    start = first % width
    spread = words[:, None] << _positions(word, generator.device)  # bit by bit to the sign, which fills the integer
    return spread.bitwise_right_shift_(width - 1).view(-1)[start : start + last - first]


@lru_cache
def _positions(word: torch.dtype, device: torch.device) -> Tensor:
    return torch.arange(torch.iinfo(word).bits, dtype=word, device=device)


class _EmbedAndRead(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        weight: Tensor,
        bias: Tensor,
        readers: Tensor,
        readers_bias: Tensor,
        kept: int,
        generator: Draws,
        half: bool,
    ) -> Tensor:
        if half:
            x, weight, bias, readers = (value.bfloat16() for value in (x, weight, bias, readers))
        h = torch.addmm(bias, x, weight.t()).relu_()  # (N, l)
        if kept < 256:
            keep = _keep(h, kept, generator)
            h.view(keep.dtype).bitwise_and_(keep)
        ctx.scale = 256 / kept
        ctx.save_for_backward(x, weight, readers, h)
        if half:
            return torch.add(readers_bias, (h @ readers.t()).to(readers_bias.dtype), alpha=ctx.scale)
        return torch.addmm(readers_bias, h, readers.t(), alpha=ctx.scale)  # (N, c)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, by_out: Tensor) -> tuple[Tensor | None, ...]:
        x, weight, readers, h = ctx.saved_tensors
        by_read = (by_out * ctx.scale).to(h.dtype)  # (N, c)
        by_h = by_read @ readers  # (N, l)
        torch.ops.aten.threshold_backward(by_h, h, 0, grad_input=by_h)  # zero where h is zero
        by_x = by_h @ weight if ctx.needs_input_grad[0] else None
        found = by_x, (x.t() @ by_h).t(), by_h.sum(0), by_read.t() @ h
        wide = (None if one is None else one.to(by_out.dtype) for one in found)
        return *wide, by_out.sum(0), None, None, None
