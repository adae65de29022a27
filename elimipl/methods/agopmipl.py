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
from typing import Literal

import numpy as np
import torch
from pydantic import Field
from sklearn.cluster import KMeans
from torch import Tensor, nn

from elimipl.config import Config
from elimipl.datasets.dataset import BagDataset
from elimipl.methods.learner import BagwiseRun, BagwiseSettings
from elimipl.model.attention import softmax_by_bag
from elimipl.model.batching import Batch
from elimipl.model.embedding import drop
from elimipl.model.losses import cli_loss, move_weights
from elimipl.model.network import BagOutputs, draw_layers

SCORE_WIDTH = 128
_LEAST_EIGENVALUE = 1e-6
_CLUSTERED = 20_000  # most instances of a class that k-means sees
_WARM_UP = 10


class AgopConfig(BagwiseSettings):
    """Settings of AGOPMIPL, those of its code on tissue."""

    middle: int = Field(256, ge=1, le=65536)
    """Width of the layer before the embedding."""
    hidden: int = Field(128, ge=1, le=4096)
    """l, the width of the embedding."""
    dropout: float = Field(0.3, ge=0, le=0.95)
    prototypes: int = Field(7, ge=1, le=1000)
    """Centres of k-means for each class."""
    combine: Literal["linear", "average"] = "linear"
    """How the prototypes of a class become one."""
    mu: float = Field(0.1, ge=0, le=1e6)
    """Weight of the entropy over the candidates."""
    gamma: float = Field(0.5, ge=0, le=1e6)
    """Weight of the inhibition loss."""
    rounds: int = Field(3, ge=1, le=1000)
    epochs: int = Field(300, ge=1, le=1_000_000)
    """Of all rounds together."""
    lr: float = Field(0.005, ge=1e-9, le=1e3)

    def run(self, dataset: BagDataset, device: torch.device) -> AgopRun:
        """On the CPU whatever the device."""
        return AgopRun(dataset, self)

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
        classes, count, self.dim = centres.shape
        self.register_buffer("centres", centres)
        self.register_buffer("root", torch.eye(config.hidden))
        self.first, self.embed = nn.Linear(self.dim, config.middle), nn.Linear(config.middle, config.hidden)
        self.gate_v, self.gate_u = nn.Linear(config.hidden, classes), nn.Linear(config.hidden, 1)
        self.score = nn.Sequential(nn.Linear(classes, SCORE_WIDTH), nn.ReLU(), nn.Linear(SCORE_WIDTH, 1))
        self.combined = nn.Linear(count, 1) if config.combine == "linear" else None
        self.classifier = nn.Linear(config.hidden, classes)
        self.to(getattr(torch, config.dtype))
        draw_layers(self, torch.Generator().manual_seed(config.seed))

    def forward(self, x: Tensor, bag_of: Tensor, bags: int, generator: torch.Generator | None = None) -> BagOutputs:
        """With a generator, dropout is on."""
        h, e = self._embedded(x, generator), self.class_prototypes(generator)
        scores = self._scores(h @ self.root, e @ self.root) + self._scores(h, e)
        attention = softmax_by_bag(scores / math.sqrt(self.config.hidden), bag_of, bags)
        z = h.new_zeros(bags, h.shape[1]).index_add(0, bag_of, attention[:, None] * h)
        logits = self.classifier(z)
        return BagOutputs(logits, logits, attention, scores, z)

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
            distinct = KMeans(count, n_init=1, random_state=seed).fit(distinct).cluster_centers_
        centres.append(distinct[np.arange(count) % len(distinct)])  # too few are repeated
    return np.stack(centres)


class AgopRun(BagwiseRun):
    """One training run; a new round begins with a new M and a new optimizer."""

    def build(self, dataset: BagDataset) -> AgopNetwork:
        """The network around the prototypes of its classes."""
        config = self.config
        self.loss = Config.preset("default", mu=config.mu, gamma=config.gamma)  # entropy of the candidates
        centres = class_centres(self.scaler.transform(dataset.instances), dataset, config.prototypes, config.seed)
        return AgopNetwork(config, torch.from_numpy(centres))

    def begin(self, epoch: int) -> float:
        """The place in the round decides on the learning rate and on ρ."""
        step = (epoch - 1) % self.config.round_length + 1
        if step == 1 and epoch > 1:
            self.network.look_along()
            self.optimizer = self.fresh_optimizer()
        self.rho = self.config.rho(step)
        rate: float = self.config.learning_rate(step)
        return rate

    def step(self, batch: Batch, candidates: Tensor, weights: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Eq. 6 moves the weights by what the step was made from."""
        energies = self.network(batch.x, batch.bag_of, batch.bags, self.draws).energies
        moved = weights.clone()
        move_weights(moved, energies.detach(), candidates, self.rho)
        return cli_loss(energies, candidates, weights, self.loss), energies, moved
