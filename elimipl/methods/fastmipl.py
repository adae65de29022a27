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
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from bag_generators.errors import InputError
from bag_generators.threads import one_thread
from elimipl.dataset import BagDataset
from elimipl.model.beliefs import initial_weights
from elimipl.model.device import resolve_device
from elimipl.model.embedding import drop
from elimipl.model.inference import Predictions, share_correct
from elimipl.model.network import PictureExtractor
from elimipl.model.scaling import Scaler, fit_scaler
from elimipl.settings import Settings, choice, number, switch
from elimipl.training.reports import EpochReport

_JITTER = 1e-4
_LEAST_VARIANCE = 1e-12
_LEAST_SQUARE = 1e-24  # β may be 0, of bags that are all alike
_START_EPOCHS, _START_RATE = 1000, 0.1


@dataclass(frozen=True)
class FastMiplConfig(Settings):
    """Settings of FastMIPL; those of its code on tissue, where they are known."""

    extractor: str = choice("identity", "cnn")
    """In front of the embedding: nothing, or the CNN of ELIMIPL for square grey pictures."""
    hidden: int = number(512, 1, 65536)
    """Width of the first layer of the embedding."""
    width: int = number(256, 1, 4096)
    """Width of the second, d: the posterior of a class has 2d numbers and a matrix of 2d × 2d."""
    dropout: float = number(0.5, 0, 0.95)
    samples: int = number(10, 1, 1000)
    """Draws from the posterior in every epoch."""
    epochs: int = number(200, 1, 1_000_000)
    lr: float = number(0.001, 1e-9, 1e3)
    scaling: str = choice("zscore", "none", "robust", "global")
    published: bool = switch(False)
    """Do as the published code does, with the statistics of the test bags and dropout at prediction."""
    dtype: str = choice("float32", "float64")

    @property
    def trainer(self) -> Callable[..., FittedFastMipl]:
        """`fit` of this module."""
        return fit


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
    attention = _softmax_by_bag(h @ gamma.reshape(count * classes, -1).T, bag_of, bags)  # (N, s·k)
    read = h @ (beta / b[:, :, None]).reshape(count * classes, -1).T
    u = read.new_zeros(bags, count * classes).index_add(0, bag_of, attention * read)
    return u.view(bags, count, classes), b, attention.view(-1, count, classes)


def statistics(u: Tensor) -> tuple[Tensor, Tensor]:
    """Mean and deviation over the bags, (s, k) each."""
    return u.mean(0), (u.var(0, correction=0) + _LEAST_VARIANCE).sqrt()


def _softmax_by_bag(scores: Tensor, bag_of: Tensor, bags: int) -> Tensor:
    """Softmax within each bag of every column of (N, c)."""
    of = bag_of[:, None].expand_as(scores)
    peak = scores.detach().new_full((bags, scores.shape[1]), -torch.inf).scatter_reduce(0, of, scores.detach(), "amax")
    raised = (scores - peak[bag_of]).exp()
    return raised / scores.new_zeros(bags, scores.shape[1]).index_add(0, bag_of, raised)[bag_of]


@dataclass(frozen=True, eq=False)
class FittedFastMipl:
    """A trained model, and the mean and deviation of u over the training bags."""

    model: FastModel
    scaler: Scaler
    config: FastMiplConfig
    centre: Tensor  # (1, k)
    spread: Tensor  # (1, k)
    weights: np.ndarray  # (m, k) float64
    history: tuple[EpochReport, ...]
    notes: tuple[str, ...] = ()

    @property
    def stopped(self) -> bool:
        """Whether training ended on request, before its last epoch."""
        return len(self.history) < self.config.epochs

    def predict(self, dataset: BagDataset) -> Predictions:
        """softmax(u) at the mean of the posterior, and the attention of the predicted class."""
        if dataset.dim != len(self.scaler.shift):
            raise InputError(
                f"The method has learned from instances of {len(self.scaler.shift)} features, but these have "
                f"{dataset.dim}.",
                "Use bags made by the same generator.",
            )
        generator = torch.Generator().manual_seed(self.config.seed) if self.config.published else None
        with torch.no_grad(), one_thread():
            x, bag_of = _packed(dataset, self.scaler, self.model.mean)
            h = self.model.embed(x, generator)
            u, b, attention = bag_scores(h, self.model.mean[None], bag_of, len(dataset))
            centre, spread = statistics(u) if self.config.published else (self.centre, self.spread)
            energies = (b * (u - centre) / spread)[:, 0].double()
            chosen = energies.argmax(1)[bag_of]
            seen = attention[:, 0].gather(1, chosen[:, None])[:, 0]
        return Predictions(energies.softmax(1).cpu().numpy(), seen.double().cpu().numpy())


def fit(
    dataset: BagDataset,
    config: FastMiplConfig,
    *,
    on_epoch: Callable[[EpochReport], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
    device: str = "auto",
) -> FittedFastMipl:
    """Train on all bags at once, on the CPU whatever the device; true labels are only reported on."""
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
        with torch.no_grad():
            u, _, _ = bag_scores(run.model.embed(run.x, None), run.model.mean[None], run.bag_of, len(dataset))
        centre, spread = statistics(u)
    weights = run.weights.double().numpy()
    return FittedFastMipl(run.model.eval(), run.scaler, config, centre, spread, weights, tuple(history))


def _packed(dataset: BagDataset, scaler: Scaler, like: Tensor) -> tuple[Tensor, Tensor]:
    """All instances, standardised, and the bag of each."""
    x = torch.from_numpy(scaler.transform(dataset.instances)).to(like)
    return x, torch.repeat_interleave(torch.arange(len(dataset)), torch.from_numpy(np.asarray(dataset.sizes)))


class _Run:
    """One training run."""

    def __init__(self, dataset: BagDataset, config: FastMiplConfig) -> None:
        self.config, self.labels = config, dataset.labels
        self.scaler = fit_scaler(dataset.instances, config.scaling)
        self.draws = torch.Generator().manual_seed(config.seed)
        self.model = FastModel(config, dataset.dim, dataset.n_classes)
        self.x, self.bag_of = _packed(dataset, self.scaler, self.model.mean)
        self.candidates = torch.tensor(dataset.candidates)
        self.weights = initial_weights(self.candidates, self.x.dtype)
        if config.published:  # the regression sees features of an extractor that is thrown away
            other = FastModel(config, dataset.dim, dataset.n_classes)
            self._shuffle(other)
            self._start(other)
            self._shuffle(self.model)
        else:
            self._shuffle(self.model)
            self._start(self.model)
        self.optimizer = torch.optim.Adam(self.model.parameters(), config.lr)

    def _shuffle(self, model: FastModel) -> None:
        """Layers uniform in ±1/√fan_in, as everywhere in this program."""
        with torch.no_grad():
            for layer in model.modules():
                if isinstance(layer, nn.Linear | nn.Conv2d):
                    bound = 1 / math.sqrt(layer.weight[0].numel())
                    for parameter in layer.parameters(recurse=False):
                        parameter.uniform_(-bound, bound, generator=self.draws)

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
        if not bool(torch.isfinite(total)):
            raise InputError(
                f"Training broke down in epoch {epoch}: the loss is no longer a finite number.",
                "Choose a smaller learning rate (lr).",
            )
        self.optimizer.zero_grad()
        total.backward()
        self.optimizer.step()
        with torch.no_grad():
            p = u.softmax(2).mean(1)
            rho = (config.epochs - epoch + 1) / config.epochs
            self.weights.lerp_(p * self.candidates, 1 - rho)
        losses = {"fit": fit_loss.item(), "divergence": divergence.item(), "total": total.item()}
        return EpochReport(
            epoch=epoch,
            epochs=config.epochs,
            losses=losses,
            train_accuracy=share_correct(p.numpy(), self.labels),
            held_out_accuracy=None,
            disambiguation_accuracy=share_correct(self.weights.numpy(), self.labels),
            lr=config.lr,
            seconds=time.perf_counter() - began,
        )
