"""The training loop that PRODEN, RC and LWS share: weights over labels move along with a classifier of bag features.

The three differ in their loss, in the optimizer, and in when the weights move; each says so in its own file.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from bag_generators.errors import InputError
from bag_generators.threads import one_thread
from elimipl.dataset import BagDataset
from elimipl.methods.backbone import Backbone
from elimipl.methods.bag_features import BagScaler
from elimipl.methods.descent import Descent
from elimipl.model.device import resolve_device
from elimipl.model.inference import Predictions, share_correct
from elimipl.settings import Settings, choice, number
from elimipl.training.reports import EpochReport


@dataclass(frozen=True)
class PartialLabelConfig(Settings):
    """What the three learners have in common."""

    features: str = choice("mean", "maxmin")
    backbone: str = choice("linear", "mlp")
    hidden: int = number(128, 1, 65536)
    """Width of the hidden layer of the `mlp`."""
    epochs: int = number(250, 1, 1_000_000)
    batch: int = number(256, 1, 1_000_000)
    """Bags per step."""
    lr: float = number(0.01, 1e-9, 1e3)
    weight_decay: float = number(0.0, 0, 1e3)
    dtype: str = choice("float32", "float64")

    @property
    def trainer(self) -> Callable[..., FittedPartialLabels]:
        """`fit` of this module."""
        return fit

    def learning_rate(self, epoch: int) -> float:
        """The step size of epoch t = 1..T."""
        return self.lr

    def criterion(self) -> Criterion:
        """The loss."""
        raise NotImplementedError

    def descent(self, parameters: Tensor) -> Descent:
        """The optimizer."""
        raise NotImplementedError


class Criterion(Protocol):
    """A loss that trusts labels by weights (B, k), and how these follow the logits g (B, k); S is (B, k) bool."""

    moves_after_step: bool
    """Whether the weights follow a fresh forward pass after the step, or the outputs that the step was made from."""

    def initial_weights(self, candidates: Tensor, dtype: torch.dtype) -> Tensor:
        """The weights that training starts from."""

    def loss(self, logits: Tensor, candidates: Tensor, weights: Tensor) -> Tensor:
        """The mean loss of the bags."""

    def slope(self, logits: Tensor, candidates: Tensor, weights: Tensor) -> Tensor:
        """Its derivative by the logits."""

    def moved_weights(self, logits: Tensor, candidates: Tensor) -> Tensor:
        """The weights that these logits suggest."""


@dataclass(frozen=True, eq=False)
class FittedPartialLabels:
    """A trained classifier of bag features."""

    backbone: Backbone
    scaler: BagScaler
    config: PartialLabelConfig
    weights: np.ndarray  # (m, k) float64, the final weights of the training bags' labels
    history: tuple[EpochReport, ...]
    notes: tuple[str, ...] = ()

    @property
    def stopped(self) -> bool:
        """Whether training ended on request, before its last epoch."""
        return len(self.history) < self.config.epochs

    def predict(self, dataset: BagDataset) -> Predictions:
        """Softmax of the logits of every bag."""
        features = torch.from_numpy(self.scaler.transform(dataset)).to(self.backbone.parameters)
        with one_thread():
            return Predictions(self.backbone.logits(features).double().softmax(1).cpu().numpy())


def fit(
    dataset: BagDataset,
    config: PartialLabelConfig,
    *,
    on_epoch: Callable[[EpochReport], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
    device: str = "auto",
) -> FittedPartialLabels:
    """Train the learner that `config` belongs to on the candidate sets; true labels are only reported on.

    `on_epoch` hears of each epoch; `should_stop` is asked after each. On a CPU the same seed always gives the
    same classifier.
    """
    with one_thread():
        run = _Run(dataset, config, resolve_device(device, config.dtype))
        history: list[EpochReport] = []
        while len(history) < config.epochs:
            history.append(run.epoch(len(history) + 1))
            if on_epoch is not None:
                on_epoch(history[-1])
            if should_stop is not None and should_stop():
                break
    return FittedPartialLabels(run.backbone, run.scaler, config, run.weights.double().cpu().numpy(), tuple(history))


class _Run:
    """One training run on one device."""

    def __init__(self, dataset: BagDataset, config: PartialLabelConfig, device: torch.device) -> None:
        self.config, self.criterion, self.labels = config, config.criterion(), dataset.labels
        self.scaler, features = BagScaler.learn(dataset, config.features)
        self.x = torch.from_numpy(features).to(device, getattr(torch, config.dtype))
        self.candidates = torch.tensor(dataset.candidates, device=device)
        self.weights = self.criterion.initial_weights(self.candidates, self.x.dtype)
        self.draws = torch.Generator().manual_seed(config.seed)
        inner = [config.hidden] if config.backbone == "mlp" else []
        self.backbone = Backbone([self.x.shape[1], *inner, dataset.n_classes], self.draws, self.x)
        self.descent = config.descent(self.backbone.parameters)

    def epoch(self, epoch: int) -> EpochReport:
        """Every bag once, in random order."""
        began = time.perf_counter()
        m, lr = len(self.labels), self.config.learning_rate(epoch)
        order = torch.randperm(m, generator=self.draws).to(self.x.device)
        x, candidates, weights = self.x[order], self.candidates[order], self.weights[order]
        logits, loss = torch.empty_like(weights), self.x.new_zeros(())
        steps = -(-m // self.config.batch)
        for step in range(steps):
            some = slice(step * m // steps, (step + 1) * m // steps)
            logits[some] = out = self.backbone.logits(x[some])
            loss += self.criterion.loss(out, candidates[some], weights[some]) * len(out)
            slope = self.criterion.slope(out, candidates[some], weights[some])
            self.descent.step(self.backbone.parameters, self.backbone.gradient(slope), lr)
            if self.criterion.moves_after_step:
                out = self.backbone.logits(x[some])
            weights[some] = self.criterion.moved_weights(out, candidates[some])
        self.weights[order] = weights
        if not bool(torch.isfinite(loss)):
            raise InputError(
                f"Training broke down in epoch {epoch}: the loss is no longer a finite number.",
                "Choose a smaller learning rate (lr).",
            )
        labels = self.labels[order.cpu().numpy()]
        return EpochReport(
            epoch=epoch,
            epochs=self.config.epochs,
            losses={"total": float(loss) / m},
            train_accuracy=share_correct(logits.cpu().numpy(), labels),
            held_out_accuracy=None,
            disambiguation_accuracy=share_correct((weights * candidates).cpu().numpy(), labels),
            lr=lr,
            seconds=time.perf_counter() - began,
        )
