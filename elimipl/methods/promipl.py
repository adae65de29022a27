"""ProMIPL (Yang, Tang and Zhang 2024): the true label y is hidden between a bag z and its candidate set s.

ELIMIPL's network with MIPLMA's attention at a temperature that falls in equal steps gives z (eq. 4) and p. Beside it an
inference net guesses the label and a generator makes the candidate set of it again:

    q = sigm(MLP(z ⊕ w)) ⊙ w,  ỹ = relaxed Bernoulli of q,  r = sigm(MLP(z ⊕ ỹ))
    L = −Σ q log p − λ_e H(q) + λ_r · (−Σ w log softmax(r)),  q without a gradient in the first term
    w ← ρ w + (1 − ρ) r ⊙ s / Σ(r ⊙ s)

As in the published code: its weights move by what the generator says, not by p; sigmoids enter a softmax twice (the
head, and r in the cross-entropy). H(q) = −Σ q log q is our reading; q is no distribution.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import Literal, NamedTuple

import torch
from pydantic import Field
from torch import Tensor, nn

from elimipl.config import Config
from elimipl.datasets.dataset import BagDataset
from elimipl.methods.learner import BagwiseRun, BagwiseSettings, FittedNetwork
from elimipl.model.attention import standardise_by_bag
from elimipl.model.batching import Batch
from elimipl.model.network import Network, build_network, draw_layers
from elimipl.training.reports import EpochReport

_SHARPNESS = 1.5  # one over the temperature of the relaxed Bernoulli
_EDGE = 1e-6  # how far q stays from 0 and 1 where its logarithm is taken


class ProMiplConfig(BagwiseSettings):
    """Settings of ProMIPL, those of its code on Birdsong where they are known."""

    extractor: Literal["identity", "cnn", "context"] = "identity"
    hidden: int = Field(128, ge=1, le=65536)
    dropout: float = Field(0.5, ge=0, le=0.95)
    temperature: float = Field(5.0, ge=1e-3, le=1e3)
    """τ⁰ of the attention."""
    cooling: float = Field(0.05, ge=0, le=1e3)
    """What τ loses in every epoch; its code has 0 on MNIST and FMNIST."""
    least_temperature: float = Field(0.05, ge=1e-3, le=1e3)
    entropy: float = Field(0.1, ge=0, le=1e6)
    """λ_e; .1, .5, 1 and 1.5 were tried by its authors."""
    reconstruction: float = Field(0.1, ge=0, le=1e6)
    """λ_r, likewise."""
    epochs: int = Field(200, ge=1, le=1_000_000)
    lr: float = Field(0.01, ge=1e-9, le=1e3)

    def run(self, dataset: BagDataset, device: torch.device) -> ProMiplRun:
        """On the CPU whatever the device."""
        return ProMiplRun(dataset, self)

    def tau(self, epoch: int) -> float:
        """τ at epoch t = 1..T: max(τ_m, τ⁰ − t·cooling)."""
        return max(self.least_temperature, self.temperature - epoch * self.cooling)

    def network(self) -> Config:
        """The settings of the network inside."""
        same = ("seed", "extractor", "hidden", "dropout", "epochs", "batch", "lr", "scaling", "dtype")
        own = {name: getattr(self, name) for name in same}
        return Config.preset("published", momentum=self.momentum, nesterov=self.momentum > 0, **own)


class Guess(NamedTuple):
    """What the two nets say about B bags."""

    q: Tensor  # (B, k) the inference net's labels
    made: Tensor  # (B, k) r, the candidate sets that the generator makes


class Nets(nn.Module):
    """The network, the inference net and the generator."""

    def __init__(self, config: ProMiplConfig, dim: int, classes: int) -> None:
        super().__init__()

        def cooling(scores: Tensor, bag_of: Tensor, bags: int, epoch: int) -> Tensor:
            scale = math.sqrt(config.hidden) * config.tau(epoch)
            return standardise_by_bag(scores, bag_of, bags) / scale

        self.network: Network = build_network(config.network(), dim, classes, attention=cooling)
        generator = torch.Generator().manual_seed(config.seed + 1)
        self.inference = _perceptron((config.hidden + classes, 256, 512, 256, classes), generator)
        self.generator = _perceptron((config.hidden + classes, 256, 512, classes), generator)
        self.to(getattr(torch, config.dtype))

    def guess(self, z: Tensor, weights: Tensor, noise: Tensor) -> Guess:
        """z (B, l), weights (B, k) and logistic noise (B, k)."""
        q = self.inference(torch.cat([z, weights], 1)).sigmoid() * weights
        relaxed = ((q.clamp(_EDGE, 1 - _EDGE).logit() + noise) * _SHARPNESS).sigmoid()
        return Guess(q, self.generator(torch.cat([z, relaxed], 1)).sigmoid())


def _perceptron(widths: tuple[int, ...], generator: torch.Generator) -> nn.Sequential:
    pairs = [[nn.Linear(entering, leaving), nn.ReLU()] for entering, leaving in pairwise(widths)]
    net = nn.Sequential(*(layer for pair in pairs for layer in pair))[:-1]
    draw_layers(net, generator)
    return net


def promipl_loss(energies: Tensor, guess: Guess, weights: Tensor, config: ProMiplConfig) -> Tensor:
    """The mean over the bags of a step; weights (B, k) are constants."""
    mapped = -(guess.q.detach() * energies.log_softmax(1)).sum()
    entropy = -(guess.q * guess.q.clamp_min(_EDGE).log()).sum()
    made = -(weights * guess.made.log_softmax(1)).sum()
    return (mapped - config.entropy * entropy + config.reconstruction * made) / len(energies)


class ProMiplRun(BagwiseRun):
    """One training run of the three nets together."""

    network: Nets

    def build(self, dataset: BagDataset) -> Nets:
        """The network, the inference net and the generator."""
        self.settings = self.config.network()
        return Nets(self.config, dataset.dim, dataset.n_classes)

    def begin(self, epoch: int) -> float:
        """Learning rate and ρ are those of the network."""
        self.network.network.at_epoch(epoch)
        self.rho = self.settings.rho(epoch)
        rate: float = self.settings.learning_rate(epoch)
        return rate

    def step(self, batch: Batch, candidates: Tensor, weights: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The weights move by what the generator makes."""
        out = self.network.network.as_printed(batch.x, batch.bag_of, batch.bags, self.draws)
        assert out.embeddings is not None
        guess = self.network.guess(out.embeddings, weights, _logistic(weights, self.draws))
        inside = guess.made.detach() * candidates
        moved = weights.lerp(inside / inside.sum(1, keepdim=True), 1 - self.rho)
        return promipl_loss(out.energies, guess, weights, self.config), out.energies, moved

    def fitted(self, history: tuple[EpochReport, ...]) -> FittedNetwork:
        """Without the two nets beside the network, which have done their work."""
        return replace(super().fitted(history), network=self.network.network)


def _logistic(like: Tensor, generator: torch.Generator) -> Tensor:
    """Standard logistic noise."""
    return torch.rand(like.shape, generator=generator).to(like).clamp(_EDGE, 1 - _EDGE).logit()
