"""The run that PRODEN, RC and LWS share: weights over labels move along with a classifier of bag features.

The three differ in their loss, in the optimizer, and in when the weights move; each says so in its own file.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
import torch
from pydantic import Field
from torch import Tensor, nn

from bag_generators.threads import one_thread
from elimipl.dataset import BagDataset
from elimipl.methods.bag_features import BagScaler
from elimipl.methods.learner import FittedLearner, LearnerSettings, Run
from elimipl.model.inference import Predictions
from elimipl.training.reports import EpochReport


class PartialLabelConfig(LearnerSettings):
    """What the three learners have in common."""

    features: Literal["mean", "maxmin"] = "mean"
    backbone: Literal["linear", "mlp"] = "linear"
    hidden: int = Field(128, ge=1, le=65536)
    """Width of the hidden layer of the `mlp`."""
    epochs: int = Field(250, ge=1, le=1_000_000)
    batch: int = Field(256, ge=1, le=1_000_000)
    """Bags per step."""
    lr: float = Field(0.01, ge=1e-9, le=1e3)
    weight_decay: float = Field(0.0, ge=0, le=1e3)
    dtype: Literal["float32", "float64"] = "float32"

    def run(self, dataset: BagDataset, device: torch.device) -> PartialLabelRun:
        """On the device."""
        return PartialLabelRun(dataset, self, device)

    def learning_rate(self, epoch: int) -> float:
        """The step size of epoch t = 1..T."""
        return self.lr

    def criterion(self) -> Criterion:
        """The loss."""
        raise NotImplementedError

    def optimizer(self, backbone: nn.Module) -> torch.optim.Optimizer:
        """What moves the classifier."""
        raise NotImplementedError


class Criterion(Protocol):
    """A loss that trusts labels by weights (B, k), and how these follow the logits g (B, k); S is (B, k) bool."""

    moves_after_step: bool
    """Whether the weights follow a fresh forward pass after the step, or the outputs that the step was made from."""

    def loss(self, logits: Tensor, candidates: Tensor, weights: Tensor) -> Tensor:
        """The mean loss of the bags."""

    def moved_weights(self, logits: Tensor, candidates: Tensor) -> Tensor:
        """The weights that these logits suggest; training starts from those of equal logits."""


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
        self.criterion = config.criterion()
        self.scaler, features = BagScaler.learn(dataset, config.features)
        self.x = torch.from_numpy(features).to(device, getattr(torch, config.dtype))
        self.candidates = torch.tensor(dataset.candidates, device=device)
        level = self.x.new_zeros(self.candidates.shape)
        self.weights = self.criterion.moved_weights(level, self.candidates)
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
            loss = self.criterion.loss(out, candidates, self.weights[some])
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            logits[some], total = out.detach(), total + loss.detach() * len(some)
            with torch.no_grad():
                now = self.backbone(x) if self.criterion.moves_after_step else out
                self.weights[some] = self.criterion.moved_weights(now, candidates)
        return self.report(epoch, began, {"total": float(total) / m}, lr, logits, self.weights * self.candidates)

    def fitted(self, history: tuple[EpochReport, ...]) -> FittedPartialLabels:
        """The classifier of the last epoch."""
        weights = self.weights.double().cpu().numpy()
        return FittedPartialLabels(self.config, history, self.scaler, self.backbone, weights)
