"""FastMIPL (Yang, Tang and Zhang 2025): a Bayesian mixed-effects model with one linear attention for each class.

Class c has a score β_c and an attention γ_c, both linear in the embedded instances x_j, with a Gaussian posterior
N(μ, F Fᵀ + 10⁻⁴ I) over the two together and a prior N(0, σ_c² I). Of a sample of them, a bag gets

    u_c = Σ_j softmax_j(x_jᵀγ_c) x_jᵀβ_c / b_c,  b_c = rms(β_c);  then u_c ← b_c (u_c − mean u_c)/std u_c

over all training bags, which are one batch. The loss −(1/m) Σ_i Σ_samples Σ_c w_ic (α_c + u_ic) + KL/m is linear in u:
only the standardisation keeps it bounded. Weights w ← ρ w + (1 − ρ) mean(softmax u) ⊙ S are not renormalised.

The published code standardises *test* bags among themselves, so that one bag alone gets u = 0, leaves dropout on when
it predicts, and starts from a regression on the features of another extractor than the one it trains. `published` does
so, too; otherwise the statistics of the training bags are kept, dropout is off, and the regression has the right
features.
The optimizer is not stated: Adam here.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from pydantic import Field
from torch import Tensor, nn

from bag_generators.base.threads import one_thread
from elimipl.datasets.dataset import BagDataset
from elimipl.methods.learner import FittedLearner, LearnerSettings, Run, check_width
from elimipl.model.attention import softmax_by_bag
from elimipl.model.embedding import drop
from elimipl.model.inference import Predictions
from elimipl.model.losses import initial_weights
from elimipl.model.network import PictureExtractor, draw_layers
from elimipl.model.scaling import Scaler, fit_scaler
from elimipl.training.reports import EpochReport

_JITTER = 1e-4
_LEAST_VARIANCE = 1e-12
_LEAST_SQUARE = 1e-24  # β may be 0, of bags that are all alike
_START_EPOCHS, _START_RATE = 1000, 0.1


class FastMiplConfig(LearnerSettings):
    """Settings of FastMIPL; those of its code on tissue, where they are known."""

    extractor: Literal["identity", "cnn"] = "identity"
    """In front of the embedding: nothing, or the CNN of ELIMIPL for square grey pictures."""
    hidden: int = Field(512, ge=1, le=65536)
    """Width of the first layer of the embedding."""
    width: int = Field(256, ge=1, le=4096)
    """Width of the second, d: the posterior of a class has 2d numbers and a matrix of 2d × 2d."""
    dropout: float = Field(0.5, ge=0, le=0.95)
    samples: int = Field(10, ge=1, le=1000)
    """Draws from the posterior in every epoch."""
    epochs: int = Field(200, ge=1, le=1_000_000)
    lr: float = Field(0.001, ge=1e-9, le=1e3)
    scaling: Literal["zscore", "none", "robust", "global"] = "zscore"
    published: bool = False
    """Do as the published code does, with the statistics of the test bags and dropout at prediction."""
    dtype: Literal["float32", "float64"] = "float32"

    def run(self, dataset: BagDataset, device: torch.device) -> FastMiplRun:
        """On the CPU whatever the device."""
        return FastMiplRun(dataset, self)


class FastModel(nn.Module):
    """The embedding, and the posterior of β and γ of each class."""

    def __init__(self, config: FastMiplConfig, dim: int, classes: int) -> None:
        super().__init__()
        self.config = config
        cnn = config.extractor == "cnn"
        self.extractor: nn.Module = PictureExtractor(dim) if cnn else nn.Identity()
        self.first = nn.Linear(PictureExtractor.width(dim) if cnn else dim, config.hidden)
        self.second = nn.Linear(config.hidden, config.width)
        self.mean = nn.Parameter(torch.zeros(classes, 2 * config.width))  # μ: β, then γ
        self.factor = nn.Parameter(torch.zeros(classes, 2 * config.width, 2 * config.width))  # F
        self.fixed = nn.Parameter(torch.zeros(classes))  # α
        self.log_sigma = nn.Parameter(torch.full((classes,), math.log(0.5) / 2))
        self.to(getattr(torch, config.dtype))

    def embed(self, x: Tensor, generator: torch.Generator | None) -> Tensor:
        """(N, d) for instances (N, dim); without a generator nothing is dropped."""
        h = drop(self.first(self.extractor(x)).relu(), self.config.dropout, generator)
        return drop(self.second(h).relu(), self.config.dropout, generator)

    def draw(self, count: int, generator: torch.Generator) -> Tensor:
        """Samples μ + F ε + √10⁻⁴ ε' of the posterior, (count, k, 2d)."""
        shape = (count, *self.mean.shape)
        wide, narrow = (torch.randn(shape, generator=generator).to(self.mean) for _ in range(2))
        return self.mean + torch.einsum("kij,skj->ski", self.factor, wide) + math.sqrt(_JITTER) * narrow

    def divergence(self) -> Tensor:
        """KL(q ‖ N(0, σ_c² I)), summed over the classes."""
        size = self.mean.shape[1]
        covariance = self.factor @ self.factor.mT + _JITTER * torch.eye(size).to(self.mean)
        spread = covariance.diagonal(dim1=1, dim2=2).sum(1) + self.mean.square().sum(1)
        log_det = 2 * torch.linalg.cholesky(covariance).diagonal(dim1=1, dim2=2).log().sum(1)
        return 0.5 * (spread * (-2 * self.log_sigma).exp() - size + 2 * size * self.log_sigma - log_det).sum()


def bag_scores(h: Tensor, drawn: Tensor, bag_of: Tensor, bags: int) -> tuple[Tensor, Tensor, Tensor]:
    """u (bags, s, k) before it is standardised, b (s, k), and the attentions (N, s, k), for drawn (s, k, 2d)."""
    count, classes, twice = drawn.shape
    beta, gamma = drawn.split(twice // 2, dim=2)
    b = (beta.square().mean(2) + _LEAST_SQUARE).sqrt()  # (s, k)
    attention = softmax_by_bag(h @ gamma.reshape(count * classes, -1).T, bag_of, bags)  # (N, s·k)
    read = h @ (beta / b[:, :, None]).reshape(count * classes, -1).T
    u = read.new_zeros(bags, count * classes).index_add(0, bag_of, attention * read)
    return u.view(bags, count, classes), b, attention.view(-1, count, classes)


def statistics(u: Tensor) -> tuple[Tensor, Tensor]:
    """Mean and deviation over the bags, (s, k) each."""
    return u.mean(0), (u.var(0, correction=0) + _LEAST_VARIANCE).sqrt()


@dataclass(frozen=True, eq=False)
class FittedFastMipl(FittedLearner):
    """A trained model, and the mean and deviation of u over the training bags."""

    model: FastModel
    centre: Tensor  # (1, k)
    spread: Tensor  # (1, k)
    weights: np.ndarray  # (m, k) float64

    def predict(self, dataset: BagDataset) -> Predictions:
        """softmax(u) at the mean of the posterior, and the attention of the predicted class."""
        check_width(dataset, len(self.scaler.shift))
        generator = torch.Generator().manual_seed(self.config.seed) if self.config.published else None
        with torch.no_grad(), one_thread():
            x, bag_of = _instances(dataset, self.scaler, self.model.mean)
            h = self.model.embed(x, generator)
            u, b, attention = bag_scores(h, self.model.mean[None], bag_of, len(dataset))
            centre, spread = statistics(u) if self.config.published else (self.centre, self.spread)
            energies = (b * (u - centre) / spread)[:, 0].double()
            chosen = energies.argmax(1)[bag_of]
            seen = attention[:, 0].gather(1, chosen[:, None])[:, 0]
        return Predictions(energies.softmax(1).numpy(), seen.double().numpy())


def _instances(dataset: BagDataset, scaler: Scaler, like: Tensor) -> tuple[Tensor, Tensor]:
    """All instances, standardised, and the bag of each."""
    x = torch.from_numpy(scaler.transform(dataset.instances)).to(like)
    return x, torch.repeat_interleave(torch.arange(len(dataset)), torch.from_numpy(np.asarray(dataset.sizes)))


class FastMiplRun(Run):
    """One training run."""

    def __init__(self, dataset: BagDataset, config: FastMiplConfig) -> None:
        super().__init__(dataset, config)
        self.scaler = fit_scaler(dataset.instances, config.scaling)
        self.draws = torch.Generator().manual_seed(config.seed)
        self.model = FastModel(config, dataset.dim, dataset.n_classes)
        self.x, self.bag_of = _instances(dataset, self.scaler, self.model.mean)
        self.candidates = torch.tensor(dataset.candidates)
        self.weights = initial_weights(self.candidates, self.x.dtype)
        # In the published way the regression sees features of an extractor that is thrown away.
        seen = FastModel(config, dataset.dim, dataset.n_classes) if config.published else self.model
        draw_layers(seen, self.draws)
        self._start(seen)
        if config.published:
            draw_layers(self.model, self.draws)
        self.optimizer = torch.optim.Adam(self.model.parameters(), config.lr)

    def _start(self, model: FastModel) -> None:
        """μ_β from a softmax regression of w on mean-pooled bags; μ_γ = 0; variances .1 mean(μ_β²) and .1."""
        width = self.config.width
        with torch.no_grad():
            h = model.embed(self.x, None)
            pooled = h.new_zeros(len(self.labels), width).index_add(0, self.bag_of, h)
            pooled /= torch.bincount(self.bag_of, minlength=len(self.labels))[:, None]
            centre, spread = statistics(pooled)
            pooled = (pooled - centre) / spread
            beta, bias = h.new_zeros(self.weights.shape[1], width), h.new_zeros(self.weights.shape[1])
            for _ in range(_START_EPOCHS):
                slope = (torch.addmm(bias, pooled, beta.T).softmax(1) - self.weights) / len(pooled)
                beta -= _START_RATE * slope.T @ pooled
                bias -= _START_RATE * slope.sum(0)
            self.model.mean[:, :width] = beta
            deviations = h.new_full((2 * width,), math.sqrt(0.1))
            deviations[:width] *= float(beta.square().mean().sqrt())
            self.model.factor.copy_(torch.diag(deviations).expand_as(self.model.factor))

    def epoch(self, epoch: int) -> EpochReport:
        """One step on all bags."""
        began, m, config = time.perf_counter(), len(self.labels), self.config
        h = self.model.embed(self.x, self.draws)
        u, b, _ = bag_scores(h, self.model.draw(config.samples, self.draws), self.bag_of, m)
        centre, spread = statistics(u)
        u = b * (u - centre) / spread  # (m, s, k)
        fit_loss = -(self.weights[:, None] * (self.model.fixed + u)).sum() / m
        divergence = self.model.divergence() / m
        total = fit_loss + divergence
        losses = {"fit": fit_loss.item(), "divergence": divergence.item(), "total": total.item()}
        self.optimizer.zero_grad()
        total.backward()
        self.optimizer.step()
        with torch.no_grad():
            p = u.softmax(2).mean(1)
            rho = (config.epochs - epoch + 1) / config.epochs
            self.weights.lerp_(p * self.candidates, 1 - rho)
        return self.report(epoch, began, losses, config.lr, p, self.weights)

    @torch.no_grad()
    def fitted(self, history: tuple[EpochReport, ...]) -> FittedFastMipl:
        """The model of the last epoch, with the statistics of the training bags."""
        model = self.model.eval()
        u, _, _ = bag_scores(model.embed(self.x, None), model.mean[None], self.bag_of, len(self.labels))
        return FittedFastMipl(self.config, history, self.scaler, model, *statistics(u), self.weights.double().numpy())
