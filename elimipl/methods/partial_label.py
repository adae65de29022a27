"""PRODEN, RC and LWS: weights over labels move along with a classifier of bag features.

The three differ in their loss, in the optimizer, and in when the weights move; each says so in its settings.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import torch
from pydantic import Field
from torch import Tensor, nn

from bag_generators.base.threads import one_thread
from elimipl.datasets.dataset import BagDataset
from elimipl.methods.bag_features import BagScaler
from elimipl.methods.learner import FittedLearner, LearnerSettings, Run
from elimipl.model.inference import Predictions
from elimipl.model.losses import candidate_distribution, mapping_loss
from elimipl.training.reports import EpochReport


class PartialLabelConfig(LearnerSettings):
    """What the three learners have in common; S is (B, k) bool, logits g and weights w are (B, k)."""

    moves_after_step: ClassVar[bool] = True
    """Whether the weights follow a fresh forward pass after the step, or the outputs that the step was made from."""

    features: Literal["mean", "maxmin"] = "mean"
    backbone: Literal["linear", "mlp"] = "linear"
    hidden: int = Field(128, ge=1, le=65536)
    """Width of the hidden layer of the `mlp`."""
    epochs: int = Field(250, ge=1, le=1_000_000)
    batch: int = Field(256, ge=1, le=1_000_000)
    """Bags per step."""
    lr: float = Field(0.01, ge=1e-9, le=1e3)
    weight_decay: float = Field(1e-3, ge=0, le=1e3)
    dtype: Literal["float32", "float64"] = "float32"

    def run(self, dataset: BagDataset, device: torch.device) -> PartialLabelRun:
        """On the device."""
        return PartialLabelRun(dataset, self, device)

    def learning_rate(self, epoch: int) -> float:
        """The step size of epoch t = 1..T."""
        return self.lr

    def loss(self, logits: Tensor, candidates: Tensor, weights: Tensor) -> Tensor:
        """−(1/B) Σ_i Σ_{c∈S_i} w_ic log p_ic with p = softmax(g); the weights are 0 off S."""
        return mapping_loss(logits.log_softmax(1), weights)

    def moved_weights(self, logits: Tensor, candidates: Tensor) -> Tensor:
        """The weights that these logits suggest, p on S, renormalised; training starts from those of equal logits."""
        return candidate_distribution(logits, candidates)

    def optimizer(self, backbone: nn.Module) -> torch.optim.Optimizer:
        """What moves the classifier: Adam with its usual β = (.9, .999)."""
        return torch.optim.Adam(backbone.parameters(), self.lr, weight_decay=self.weight_decay)


class RcConfig(PartialLabelConfig):
    """RC (Feng et al. 2020), the risk-consistent learner: Adam, and weights recomputed after each step."""

    lr: float = Field(1e-3, ge=1e-9, le=1e3)
    weight_decay: float = Field(1e-5, ge=0, le=1e3)


class _WithMomentum(PartialLabelConfig):
    momentum: float = Field(0.9, ge=0, le=0.9999)

    def optimizer(self, backbone: nn.Module) -> torch.optim.Optimizer:
        """SGD with momentum."""
        return torch.optim.SGD(backbone.parameters(), self.lr, self.momentum, weight_decay=self.weight_decay)


class ProdenConfig(_WithMomentum):
    """PRODEN (Lv et al. 2020): the weights follow the outputs of each step; lr of 1e-3 to 1e-2 are usual."""

    moves_after_step = False
    epochs: int = Field(500, ge=1, le=1_000_000)


class LwsConfig(_WithMomentum):
    """LWS (Wen et al. 2021), leveraged weighted sigmoid loss: candidates are pushed up, and all others pushed down."""

    lr: float = Field(0.1, ge=1e-9, le=1e3)
    halve_every: int = Field(50, ge=1, le=1_000_000)
    """Epochs after which the learning rate is halved."""
    beta: float = Field(1.0, ge=0, le=1e6)
    """Leverage β of the labels outside S; 1 or 2 are usual."""

    def learning_rate(self, epoch: int) -> float:
        """lr at epoch 1, lr/2 after `halve_every` epochs, and so on."""
        return self.lr * 0.5 ** ((epoch - 1) // self.halve_every)

    def loss(self, logits: Tensor, candidates: Tensor, weights: Tensor) -> Tensor:
        """(1/B) Σ_i [Σ_{c∈S} w_c ψ(g_c) + β Σ_{c∉S} w_c ψ(−g_c)] with ψ(t) = 1/(1 + e^t)."""
        inside = candidates * (weights * (-logits).sigmoid())
        outside = ~candidates * (weights * logits.sigmoid())
        return (inside.sum() + self.beta * outside.sum()) / len(logits)

    def moved_weights(self, logits: Tensor, candidates: Tensor) -> Tensor:
        """softmax(g), renormalised on either side of the border of S; 0 outside when S holds every class."""
        inside, outside = (candidate_distribution(logits, side) for side in (candidates, ~candidates))
        return torch.where(candidates, inside, outside)


@dataclass(frozen=True, eq=False)
class FittedPartialLabels(FittedLearner):
    """A trained classifier of bag features."""

    scaler: BagScaler
    backbone: nn.Sequential
    weights: np.ndarray  # (m, k) float64, the final weights of the training bags' labels

    def predict(self, dataset: BagDataset) -> Predictions:
        """Softmax of the logits of every bag."""
        features = torch.from_numpy(self.scaler.transform(dataset)).to(next(self.backbone.parameters()))
        with torch.no_grad(), one_thread():
            return Predictions(self.backbone(features).double().softmax(1).cpu().numpy())


def backbone(widths: Sequence[int], generator: torch.Generator) -> nn.Sequential:
    """Linear layers of the given widths with ReLU between them, uniform within ±1/√rows, as torch's own start."""
    layers: list[nn.Module] = []
    for rows, columns in itertools.pairwise(widths):
        layer = nn.Linear(rows, columns, dtype=torch.float64)
        drawn = (2 * torch.rand(rows + 1, columns, generator=generator, dtype=torch.float64) - 1) / math.sqrt(rows)
        layer.weight.data, layer.bias.data = drawn[:-1].T.contiguous(), drawn[-1]
        layers += [layer, nn.ReLU()]
    return nn.Sequential(*layers[:-1])


class PartialLabelRun(Run):
    """One training run on one device."""

    def __init__(self, dataset: BagDataset, config: PartialLabelConfig, device: torch.device) -> None:
        super().__init__(dataset, config)
        self.scaler, features = BagScaler.learn(dataset, config.features)
        self.x = torch.from_numpy(features).to(device, getattr(torch, config.dtype))
        self.candidates = torch.tensor(dataset.candidates, device=device)
        level = self.x.new_zeros(self.candidates.shape)
        self.weights = self.config.moved_weights(level, self.candidates)
        self.draws = torch.Generator().manual_seed(config.seed)
        inner = [config.hidden] if config.backbone == "mlp" else []
        self.backbone = backbone([self.x.shape[1], *inner, dataset.n_classes], self.draws).to(self.x)
        self.optimizer = config.optimizer(self.backbone)

    def epoch(self, epoch: int) -> EpochReport:
        """Every bag once, in random order."""
        began, m, lr = time.perf_counter(), len(self.labels), self.config.learning_rate(epoch)
        self.optimizer.param_groups[0]["lr"] = lr
        order = torch.randperm(m, generator=self.draws).to(self.x.device)
        logits, total = torch.empty_like(self.weights), self.x.new_zeros(())
        steps = -(-m // self.config.batch)
        for step in range(steps):
            some = order[step * m // steps : (step + 1) * m // steps]
            x, candidates = self.x[some], self.candidates[some]
            out = self.backbone(x)
            loss = self.config.loss(out, candidates, self.weights[some])
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            logits[some], total = out.detach(), total + loss.detach() * len(some)
            with torch.no_grad():
                now = self.backbone(x) if self.config.moves_after_step else out
                self.weights[some] = self.config.moved_weights(now, candidates)
        return self.report(epoch, began, {"total": float(total) / m}, lr, logits, self.weights * self.candidates)

    def fitted(self, history: tuple[EpochReport, ...]) -> FittedPartialLabels:
        """The classifier of the last epoch."""
        weights = self.weights.double().cpu().numpy()
        return FittedPartialLabels(self.config, history, self.scaler, self.backbone, weights)
