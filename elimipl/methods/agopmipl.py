"""AGOPMIPL (Cao, Zhao and Zhang 2026): attention that looks along the directions the classifier has found useful.

After every round of epochs the average gradient outer product of the classifier, M = E[JᵀJ], maps instances h and class
prototypes e by M^½ for a second score. With a linear head J = W for every bag, so that M = WᵀW exactly:

    score(h, e) = MLP(sigm(V h) ⊙ sigm(U e)),  a = softmax((score(M^½h, M^½e) + score(h, e))/√l),  z = Σ a_j h_j
    L = −Σ_S w log p + μ H(p_S/Σ p_S) − γ Σ_S̄ log(1 − p),  p = softmax(W z + c)

w is left alone for a fifth of each round and then moves by eq. 6 with ρ falling to 0; a round starts from the w of the
last one, with a fresh optimizer. Prototypes are the centres of k-means on the instances of all bags that have the class
among their candidates.

What differs from the published code: the model is that of the last epoch, not the best of several on the *test* set;
bags come in random order; a class's prototypes come from its own bags (there from bags picked by a slip of indices).
Not stated, and our reading: both scores share their weights, M is the identity in the first round, SGD with Nesterov
momentum .9.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits
from torch import Tensor, nn

from bag_generators.errors import InputError
from bag_generators.threads import one_thread
from elimipl.config import Config
from elimipl.dataset import BagDataset
from elimipl.model.attention import softmax_by_bag
from elimipl.model.batching import PackedBags
from elimipl.model.beliefs import initial_weights, move_weights
from elimipl.model.device import resolve_device
from elimipl.model.embedding import drop
from elimipl.model.inference import Predictions, share_correct
from elimipl.model.losses import cli_loss
from elimipl.model.scaling import Scaler, fit_scaler
from elimipl.settings import Settings, choice, number
from elimipl.training.reports import EpochReport

SCORE_WIDTH = 128
_LEAST_EIGENVALUE = 1e-6
_CLUSTERED = 20_000  # most instances of a class that k-means sees
_WARM_UP = 10
_BAGS_AT_ONCE = 256


@dataclass(frozen=True)
class AgopConfig(Settings):
    """Settings of AGOPMIPL, those of its code on tissue."""

    middle: int = number(256, 1, 65536)
    """Width of the layer before the embedding."""
    hidden: int = number(128, 1, 4096)
    """l, the width of the embedding."""
    dropout: float = number(0.3, 0, 0.95)
    prototypes: int = number(7, 1, 1000)
    """Centres of k-means for each class."""
    combine: str = choice("linear", "average")
    """How the prototypes of a class become one."""
    mu: float = number(0.1, 0, 1e6)
    """Weight of the entropy over the candidates."""
    gamma: float = number(0.5, 0, 1e6)
    """Weight of the inhibition loss."""
    rounds: int = number(3, 1, 1000)
    epochs: int = number(300, 1, 1_000_000)
    """Of all rounds together."""
    batch: int = number(1, 1, 1_000_000)
    """Bags per step."""
    lr: float = number(0.005, 1e-9, 1e3)
    momentum: float = number(0.9, 0, 0.9999)
    weight_decay: float = number(1e-4, 0, 1e3)
    scaling: str = choice("zscore", "none", "robust", "global")
    dtype: str = choice("float32", "float64")

    @property
    def trainer(self) -> Callable[..., FittedAgop]:
        """`fit` of this module."""
        return fit

    @property
    def round_length(self) -> int:
        """Epochs of a round; the last one may be shorter."""
        return -(-self.epochs // self.rounds)

    def rho(self, step: int) -> float:
        """How much of w is kept at epoch 1, 2, … of a round: all for a fifth of it, then linearly down to none."""
        quiet = 0.2 * self.round_length
        return 1.0 if step <= quiet else (self.round_length - step) / (self.round_length - quiet)

    def learning_rate(self, step: int) -> float:
        """Up for ten epochs of a round (a fifth of a short one), then down along a half cosine."""
        warm = min(_WARM_UP, self.round_length // 5)
        if step <= warm:
            return self.lr * step / warm
        return 0.5 * self.lr * (1 + math.cos(math.pi * (step - 1 - warm) / (self.round_length - warm)))


class AgopNetwork(nn.Module):
    """The embedding, the gates, the classifier, and M^½."""

    centres: Tensor
    root: Tensor

    def __init__(self, config: AgopConfig, centres: Tensor) -> None:
        """`centres` (k, P, dim): standardised prototypes of each class."""
        super().__init__()
        self.config = config
        classes, count, dim = centres.shape
        self.register_buffer("centres", centres)
        self.register_buffer("root", torch.eye(config.hidden))
        self.first, self.embed = nn.Linear(dim, config.middle), nn.Linear(config.middle, config.hidden)
        self.gate_v, self.gate_u = nn.Linear(config.hidden, classes), nn.Linear(config.hidden, 1)
        self.score = nn.Sequential(nn.Linear(classes, SCORE_WIDTH), nn.ReLU(), nn.Linear(SCORE_WIDTH, 1))
        self.combined = nn.Linear(count, 1) if config.combine == "linear" else None
        self.classifier = nn.Linear(config.hidden, classes)
        self.to(getattr(torch, config.dtype))
        generator = torch.Generator().manual_seed(config.seed)
        with torch.no_grad():
            for layer in self.modules():
                if isinstance(layer, nn.Linear):
                    bound = 1 / math.sqrt(layer.in_features)
                    for parameter in layer.parameters(recurse=False):
                        parameter.uniform_(-bound, bound, generator=generator)

    def forward(
        self, x: Tensor, bag_of: Tensor, bags: int, generator: torch.Generator | None = None
    ) -> tuple[Tensor, Tensor]:
        """Class energies (bags, k) and attention (N,); with a generator, dropout is on."""
        h, e = self._embedded(x, generator), self.class_prototypes(generator)
        scores = self._scores(h @ self.root, e @ self.root) + self._scores(h, e)
        attention = softmax_by_bag(scores / math.sqrt(self.config.hidden), bag_of, bags)
        z = h.new_zeros(bags, h.shape[1]).index_add(0, bag_of, attention[:, None] * h)
        return self.classifier(z), attention

    def class_prototypes(self, generator: torch.Generator | None) -> Tensor:
        """One embedded prototype for each class, (k, l)."""
        e = self._embedded(self.centres.flatten(0, 1), generator).view(*self.centres.shape[:2], -1)
        return e.mean(1) if self.combined is None else self.combined(e.mT).squeeze(2)

    def look_along(self) -> None:
        """M^½ of M = WᵀW, by its eigenvectors."""
        with torch.no_grad():
            weight = self.classifier.weight
            values, vectors = torch.linalg.eigh(weight.T @ weight)
            self.root.copy_(vectors * values.clamp_min(_LEAST_EIGENVALUE).sqrt() @ vectors.T)

    def _embedded(self, x: Tensor, generator: torch.Generator | None) -> Tensor:
        h = drop(self.first(x).relu(), self.config.dropout, generator)
        return drop(self.embed(h).relu(), self.config.dropout, generator)

    def _scores(self, h: Tensor, e: Tensor) -> Tensor:
        return self.score(self.gate_v(h).sigmoid() * self.gate_u(e).sigmoid().T).squeeze(1)


@dataclass(frozen=True, eq=False)
class FittedAgop:
    """A trained network."""

    network: AgopNetwork
    scaler: Scaler
    config: AgopConfig
    weights: np.ndarray  # (m, k) float64
    history: tuple[EpochReport, ...]
    notes: tuple[str, ...] = ()

    @property
    def stopped(self) -> bool:
        """Whether training ended on request, before its last epoch."""
        return len(self.history) < self.config.epochs

    def predict(self, dataset: BagDataset) -> Predictions:
        """Softmax of the energies, and attention."""
        if dataset.dim != len(self.scaler.shift):
            raise InputError(
                f"The method has learned from instances of {len(self.scaler.shift)} features, but these have "
                f"{dataset.dim}.",
                "Use bags made by the same generator.",
            )
        probabilities, attention = [], []
        with torch.no_grad(), one_thread():
            for batch in _packed(dataset, self.scaler, self.config.dtype).batches(_BAGS_AT_ONCE):
                energies, seen = self.network(batch.x, batch.bag_of, batch.bags_here)
                probabilities.append(energies.double().softmax(1))
                attention.append(seen.double())
        return Predictions(torch.cat(probabilities).numpy(), torch.cat(attention).numpy())


def fit(
    dataset: BagDataset,
    config: AgopConfig,
    *,
    on_epoch: Callable[[EpochReport], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
    device: str = "auto",
) -> FittedAgop:
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
    return FittedAgop(run.network, run.scaler, config, run.weights.double().numpy(), tuple(history))


def class_centres(instances: np.ndarray, dataset: BagDataset, count: int, seed: int) -> np.ndarray:
    """(k, count, dim): k-means of the instances of all bags that have the class among their candidates."""
    bag_of = np.repeat(np.arange(len(dataset)), dataset.sizes)
    rng, centres = np.random.default_rng(seed), []
    for has_class in dataset.candidates.T:
        own = instances[has_class[bag_of]] if has_class.any() else instances
        if len(own) > _CLUSTERED:
            own = own[np.sort(rng.choice(len(own), _CLUSTERED, replace=False))]
        distinct = np.unique(own, axis=0)
        if len(distinct) > count:
            with threadpool_limits(1):
                distinct = KMeans(count, n_init=1, random_state=seed).fit(distinct).cluster_centers_
        centres.append(distinct[np.arange(count) % len(distinct)])  # too few are repeated
    return np.stack(centres)


def _packed(dataset: BagDataset, scaler: Scaler, dtype: str) -> PackedBags:
    scaled = scaler.transform(dataset.instances, dtype)
    return PackedBags.pack(scaled, np.asarray(dataset.sizes), getattr(torch, dtype), torch.device("cpu"))


class _Run:
    """One training run."""

    def __init__(self, dataset: BagDataset, config: AgopConfig) -> None:
        self.config, self.labels = config, dataset.labels
        self.loss = Config.preset("default", mu=config.mu, gamma=config.gamma)  # entropy of the candidates
        self.scaler = fit_scaler(dataset.instances, config.scaling)
        self.bags = _packed(dataset, self.scaler, config.dtype)
        centres = class_centres(self.scaler.transform(dataset.instances), dataset, config.prototypes, config.seed)
        self.network = AgopNetwork(config, torch.from_numpy(centres))
        self.candidates = torch.tensor(dataset.candidates)
        self.weights = initial_weights(self.candidates, self.bags.dtype)
        self.draws = torch.Generator().manual_seed(config.seed)
        self.optimizer = self._fresh_optimizer()

    def _fresh_optimizer(self) -> torch.optim.SGD:
        config = self.config
        nesterov = config.momentum > 0
        parameters = self.network.parameters()
        return torch.optim.SGD(
            parameters, config.lr, config.momentum, weight_decay=config.weight_decay, nesterov=nesterov
        )

    def epoch(self, epoch: int) -> EpochReport:
        """Every bag once, in random order; a new round begins with a new M and a new optimizer."""
        began, m, config = time.perf_counter(), len(self.labels), self.config
        step = (epoch - 1) % config.round_length + 1
        if step == 1 and epoch > 1:
            self.network.look_along()
            self.optimizer = self._fresh_optimizer()
        lr, rho = config.learning_rate(step), config.rho(step)
        self.optimizer.param_groups[0]["lr"] = lr
        order = torch.randperm(m, generator=self.draws)
        total, probabilities = 0.0, torch.empty_like(self.weights)
        for batch in self.bags.batches(config.batch, order):
            some = order[batch.members]
            weights, candidates = self.weights[some], self.candidates[some]
            energies, _ = self.network(batch.x, batch.bag_of, len(some), self.draws)
            value = cli_loss(energies, candidates, weights, self.loss)
            self.optimizer.zero_grad()
            value.backward()
            self.optimizer.step()
            energies = energies.detach()
            probabilities[some] = energies.softmax(1)
            moved = weights.clone()
            move_weights(moved, energies, candidates, rho)
            self.weights[some] = moved
            total += value.item() * len(some)
        if not math.isfinite(total):
            raise InputError(
                f"Training broke down in epoch {epoch}: the loss is no longer a finite number.",
                "Choose a smaller learning rate (lr).",
            )
        return EpochReport(
            epoch=epoch,
            epochs=config.epochs,
            losses={"total": total / m},
            train_accuracy=share_correct(probabilities.numpy(), self.labels),
            held_out_accuracy=None,
            disambiguation_accuracy=share_correct(self.weights.numpy(), self.labels),
            lr=lr,
            seconds=time.perf_counter() - began,
        )
