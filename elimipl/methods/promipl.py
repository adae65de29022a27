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
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from bag_generators.errors import InputError
from bag_generators.threads import one_thread
from elimipl.config import Config
from elimipl.dataset import BagDataset
from elimipl.model.attention import standardise_by_bag
from elimipl.model.batching import PackedBags
from elimipl.model.beliefs import initial_weights
from elimipl.model.device import resolve_device
from elimipl.model.inference import Predictions, infer, share_correct
from elimipl.model.network import Network, build_network
from elimipl.model.scaling import Scaler, fit_scaler
from elimipl.settings import Settings, choice, number
from elimipl.training.reports import EpochReport

_SHARPNESS = 1.5  # one over the temperature of the relaxed Bernoulli
_EDGE = 1e-6  # how far q stays from 0 and 1 where its logarithm is taken


@dataclass(frozen=True)
class ProMiplConfig(Settings):
    """Settings of ProMIPL, those of its code on Birdsong where they are known."""

    extractor: str = choice("identity", "cnn", "context")
    hidden: int = number(128, 1, 65536)
    dropout: float = number(0.5, 0, 0.95)
    temperature: float = number(5.0, 1e-3, 1e3)
    """τ⁰ of the attention."""
    cooling: float = number(0.05, 0, 1e3)
    """What τ loses in every epoch; its code has 0 on MNIST and FMNIST."""
    least_temperature: float = number(0.05, 1e-3, 1e3)
    entropy: float = number(0.1, 0, 1e6)
    """λ_e; .1, .5, 1 and 1.5 were tried by its authors."""
    reconstruction: float = number(0.1, 0, 1e6)
    """λ_r, likewise."""
    epochs: int = number(200, 1, 1_000_000)
    batch: int = number(1, 1, 1_000_000)
    """Bags per step."""
    lr: float = number(0.01, 1e-9, 1e3)
    momentum: float = number(0.9, 0, 0.9999)
    weight_decay: float = number(1e-4, 0, 1e3)
    scaling: str = choice("zscore", "none", "robust", "global")
    dtype: str = choice("float32", "float64")

    @property
    def trainer(self) -> Callable[..., FittedProMipl]:
        """`fit` of this module."""
        return fit

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
    layers: list[nn.Module] = []
    for entering, leaving in pairwise(widths):
        layer = nn.Linear(entering, leaving)
        with torch.no_grad():
            for parameter in layer.parameters():
                parameter.uniform_(-1 / math.sqrt(entering), 1 / math.sqrt(entering), generator=generator)
        layers += [layer, nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def promipl_loss(energies: Tensor, guess: Guess, weights: Tensor, config: ProMiplConfig) -> Tensor:
    """The mean over the bags of a step; weights (B, k) are constants."""
    mapped = -(guess.q.detach() * energies.log_softmax(1)).sum()
    entropy = -(guess.q * guess.q.clamp_min(_EDGE).log()).sum()
    made = -(weights * guess.made.log_softmax(1)).sum()
    return (mapped - config.entropy * entropy + config.reconstruction * made) / len(energies)


@dataclass(frozen=True, eq=False)
class FittedProMipl:
    """A trained network; the two nets beside it have done their work."""

    network: Network
    scaler: Scaler
    config: ProMiplConfig
    weights: np.ndarray  # (m, k) float64
    history: tuple[EpochReport, ...]
    notes: tuple[str, ...] = ()

    @property
    def stopped(self) -> bool:
        """Whether training ended on request, before its last epoch."""
        return len(self.history) < self.config.epochs

    def predict(self, dataset: BagDataset, *, embeddings: bool = False) -> Predictions:
        """The classifier's probabilities, a softmax of sigmoids, and attention; z of eq. 4 if asked for."""
        return infer(self.network, self.scaler, dataset.instances, dataset.sizes, embeddings=embeddings)


def fit(
    dataset: BagDataset,
    config: ProMiplConfig,
    *,
    on_epoch: Callable[[EpochReport], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
    device: str = "auto",
) -> FittedProMipl:
    """Train on every bag, on the CPU whatever the device; true labels are only reported on."""
    resolve_device(device, config.dtype)
    with one_thread():
        run = _Run(dataset, config)
        history: list[EpochReport] = []
        while len(history) < config.epochs:
            history.append(run.epoch(len(history) + 1))
            if on_epoch is not None:
                on_epoch(history[-1])
            if should_stop is not None and should_stop():
                break
    weights = run.weights.double().numpy()
    return FittedProMipl(run.nets.network, run.scaler, config, weights, tuple(history))


class _Run:
    """One training run."""

    def __init__(self, dataset: BagDataset, config: ProMiplConfig) -> None:
        self.config, self.settings, self.labels = config, config.network(), dataset.labels
        self.scaler = fit_scaler(dataset.instances, config.scaling)
        self.nets = Nets(config, dataset.dim, dataset.n_classes)
        scaled = self.scaler.transform(dataset.instances, config.dtype)
        dtype, here = getattr(torch, config.dtype), torch.device("cpu")
        self.bags = PackedBags.pack(scaled, dataset.sizes, dtype, here)
        self.candidates = torch.tensor(dataset.candidates)
        self.weights = initial_weights(self.candidates, dtype)
        self.draws = torch.Generator().manual_seed(config.seed)
        self.optimizer = torch.optim.SGD(
            self.nets.parameters(),
            config.lr,
            config.momentum,
            weight_decay=config.weight_decay,
            nesterov=config.momentum > 0,
        )

    def epoch(self, epoch: int) -> EpochReport:
        """Every bag once, in random order."""
        began, m = time.perf_counter(), len(self.labels)
        self.nets.network.at_epoch(epoch)
        lr, rho = self.settings.learning_rate(epoch), self.settings.rho(epoch)
        self.optimizer.param_groups[0]["lr"] = lr
        order = torch.randperm(m, generator=self.draws)
        total, probabilities = 0.0, torch.empty_like(self.weights)
        for batch in self.bags.batches(self.config.batch, order):
            some = order[batch.members]
            weights, candidates = self.weights[some], self.candidates[some]
            out = self.nets.network.as_printed(batch.x, batch.bag_of, len(some), self.draws)
            assert out.embeddings is not None
            guess = self.nets.guess(out.embeddings, weights, _logistic(weights, self.draws))
            value = promipl_loss(out.energies, guess, weights, self.config)
            self.optimizer.zero_grad()
            value.backward()
            self.optimizer.step()
            inside = guess.made.detach() * candidates
            self.weights[some] = weights.lerp(inside / inside.sum(1, keepdim=True), 1 - rho)
            probabilities[some] = out.energies.detach().softmax(1)
            total += value.item() * len(some)
        if not math.isfinite(total):
            raise InputError(
                f"Training broke down in epoch {epoch}: the loss is no longer a finite number.",
                "Choose a smaller learning rate (lr).",
            )
        return EpochReport(
            epoch=epoch,
            epochs=self.config.epochs,
            losses={"total": total / m},
            train_accuracy=share_correct(probabilities.numpy(), self.labels),
            held_out_accuracy=None,
            disambiguation_accuracy=share_correct(self.weights.numpy(), self.labels),
            lr=lr,
            seconds=time.perf_counter() - began,
        )


def _logistic(like: Tensor, generator: torch.Generator) -> Tensor:
    """Standard logistic noise."""
    return torch.rand(like.shape, generator=generator).to(like).clamp(_EDGE, 1 - _EDGE).logit()
