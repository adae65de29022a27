"""The network of equations 1–4: extractor, attention and classifier, over many ragged bags at once."""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from bag_generators.errors import InputError
from elimipl.config import Config
from elimipl.model.attention import attention_pool
from elimipl.model.context import with_context
from elimipl.model.embedding import embed_and_read

SCORE_WIDTH = 128
"""Width of the MLP that maps gates to ξ in the authors' code."""
SIGMOID_MARGIN = 1e-5
"""How far the sigmoid of the authors' head stays from 0 and 1 while training."""


class BagOutputs(NamedTuple):
    """What the network says about a batch of B bags with N instances and k classes."""

    logits: Tensor  # (B, k) the linear classifier's outputs W_cᵀz + b_c
    energies: Tensor  # (B, k) what the softmax is taken of: the logits, or their sigmoid
    attention: Tensor  # (N,) a_j of eq. 3, one per instance, summing to one in each bag
    scores: Tensor  # (N,) ξ of eq. 2


class Network(nn.Module):
    """x (N, d) and the bag of every row → class energies and attention.

    In the paper's symbols `embed` is ψ2, `gate_t` and `gate_s` are W_t and W_s, `score` is W, `classifier` is f.
    """

    def __init__(self, config: Config, dim: int, n_classes: int) -> None:
        super().__init__()
        self.config = config
        self.dim = dim
        self.n_classes = n_classes
        self.extractor = PictureExtractor(dim) if config.extractor == "cnn" else nn.Identity()
        width = n_classes if config.gate == "shared" else config.gate_width
        features = _extracted_width(config.extractor, dim)
        self.embed = nn.Linear(features, config.hidden)
        self.gate_t = nn.Linear(config.hidden, width)
        self.gate_s = nn.Linear(config.hidden, width) if config.gate == "two" else None
        self.score = (
            nn.Linear(width, 1, bias=False)
            if config.score == "linear"
            else nn.Sequential(nn.Linear(width, SCORE_WIDTH), nn.ReLU(), nn.Linear(SCORE_WIDTH, 1))
        )
        self.classifier = nn.Linear(config.hidden, n_classes)
        self.to(getattr(torch, config.dtype))

    def forward(self, x: Tensor, bag_of: Tensor, bags: int, generator: torch.Generator | None = None) -> BagOutputs:
        """x (N, d), bag_of (N,) in 0..bags−1. Training is asked for by giving the generator that draws the dropout."""
        layers = [layer for layer in (self.gate_t, self.gate_s, self.classifier) if layer is not None]
        read = embed_and_read(
            self._extract(x, bag_of, bags),
            self.embed.weight,
            self.embed.bias,
            torch.cat([layer.weight for layer in layers]),
            torch.cat([layer.bias for layer in layers]),
            self.config.dropout,
            generator,
        )  # (N, gates·g + k)
        *gates, votes = read.split([layer.out_features for layer in layers], dim=1)
        scores = self.score(gates[0].tanh() * gates[-1].sigmoid()).squeeze(1)  # (N,) eq. 2
        # Eq. 3, and eq. 4 behind the linear classifier: W_cᵀ(Σ a_j h_j) + b_c = Σ a_j (W_cᵀh_j + b_c).
        logits, attention = attention_pool(self._attention_logits(scores), votes, bag_of, bags)
        return BagOutputs(logits, self._energies(logits, training=generator is not None), attention, scores)

    def _extract(self, x: Tensor, bag_of: Tensor, bags: int) -> Tensor:
        """ψ1, eq. 1."""
        return with_context(x, bag_of, bags) if self.config.extractor == "context" else self.extractor(x)

    def _attention_logits(self, scores: Tensor) -> Tensor:
        """What eq. 3 takes the softmax of. DEMIPL's sigm(ξ_j)/Σ sigm(ξ_j') is the softmax of log sigm(ξ)."""
        if self.config.pooling == "sigmoid_normalised":
            return functional.logsigmoid(scores)
        return scores / math.sqrt(self.config.hidden)

    def _energies(self, logits: Tensor, training: bool) -> Tensor:
        if self.config.head == "softmax":
            return logits
        return logits.sigmoid().clamp(SIGMOID_MARGIN, 1 - SIGMOID_MARGIN) if training else logits.sigmoid()


def _extracted_width(extractor: str, dim: int) -> int:
    """Features an instance has after ψ1."""
    if extractor == "cnn":
        return PictureExtractor.width(dim)
    return 3 * dim if extractor == "context" else dim


class PictureExtractor(nn.Module):
    """ψ1 for square grey pictures: two 5×5 convolutions with 2×2 max pooling; 28×28 pixels → 800 features."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.width(dim)
        self.side = math.isqrt(dim)
        self.first = nn.Conv2d(1, 20, 5)
        self.second = nn.Conv2d(20, 50, 5)

    @staticmethod
    def width(dim: int) -> int:
        """Features that come out of pictures of `dim` pixels."""
        side = math.isqrt(dim)
        if side * side != dim or side < 16:
            raise InputError(
                f"The convolutional extractor reads square pictures from 16×16 pixels, not {dim} features.",
                "Choose extractor 'identity' for these bags.",
            )
        return 50 * (((side - 4) // 2 - 4) // 2) ** 2

    def forward(self, x: Tensor) -> Tensor:
        """(N, side²) → (N, features). Pooling before the ReLU gives the same at a quarter of the work."""
        # Laid out with the channel last, which CPU convolutions and pooling are nearly twice as fast in.
        pictures = x.view(-1, self.side, self.side, 1).permute(0, 3, 1, 2)
        low = functional.max_pool2d(self.first(pictures), 2).relu_()
        return functional.max_pool2d(self.second(low), 2).relu_().flatten(1)


def build_network(config: Config, dim: int, n_classes: int) -> Network:
    """A fresh network whose weights depend on `config.seed` alone: uniform in ±1/√fan_in, layer by layer."""
    network = Network(config, dim, n_classes)
    generator = torch.Generator().manual_seed(config.seed)
    with torch.no_grad():
        for layer in network.modules():
            if isinstance(layer, nn.Linear | nn.Conv2d):
                bound = 1 / math.sqrt(layer.weight[0].numel())
                for parameter in layer.parameters(recurse=False):
                    parameter.uniform_(-bound, bound, generator=generator)
    return network
