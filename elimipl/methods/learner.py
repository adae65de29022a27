"""The frame of every method that isn't the program's own network: its settings, a run, what is learned, one `fit`."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import psutil
import torch
from pydantic import Field
from threadpoolctl import threadpool_limits
from torch import Tensor

from bag_generators.base.errors import InputError
from bag_generators.base.threads import one_thread
from elimipl.config import Settings
from elimipl.datasets.dataset import BagDataset
from elimipl.model.batching import Batch, PackedBags
from elimipl.model.device import resolve_device
from elimipl.model.inference import Predictions, infer, share_correct
from elimipl.model.losses import initial_weights
from elimipl.model.scaling import fit_scaler
from elimipl.training.reports import EpochReport
from elimipl.training.team import Team

_SHARE = 0.6  # of what is free: other programs run, and libraries need work space
_CGROUP = Path("/sys/fs/cgroup")


class LearnerSettings(Settings):
    """Settings of a method that `fit` trains; all have `epochs`."""

    @property
    def trainer(self) -> Callable[..., FittedLearner]:
        """`fit` of this module."""
        return fit

    def run(self, dataset: BagDataset, device: torch.device) -> Run:
        """A training run that has not begun."""
        raise NotImplementedError


class BagwiseSettings(LearnerSettings):
    """Settings of a `BagwiseRun`."""

    batch: int = Field(1, ge=1, le=1_000_000)
    """Bags per step."""
    lr: float = Field(0.01, ge=1e-9, le=1e3)
    momentum: float = Field(0.9, ge=0, le=0.9999)
    weight_decay: float = Field(1e-4, ge=0, le=1e3)
    scaling: Literal["zscore", "none", "robust", "global"] = "zscore"
    dtype: Literal["float32", "float64"] = "float32"


@dataclass(frozen=True, eq=False)
class FittedLearner:
    """What every trained method has; its own file says how it predicts."""

    config: Any
    history: tuple[EpochReport, ...]
    scaler: Any
    notes: tuple[str, ...] = field(default=(), kw_only=True)
    """Sentences on choices that the method has made."""

    @property
    def stopped(self) -> bool:
        """Whether training ended on request, before its last epoch."""
        return len(self.history) < self.config.epochs

    def predict(self, dataset: BagDataset) -> Predictions:
        """Class probabilities of every bag."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class FittedNetwork(FittedLearner):
    """A trained network, and what it believes of the training bags' labels."""

    network: Any
    weights: np.ndarray  # (m, k) float64

    def predict(self, dataset: BagDataset, *, embeddings: bool = False) -> Predictions:
        """Probabilities and attention; with `embeddings` also z of every bag."""
        return infer(self.network, self.scaler, dataset.instances, dataset.sizes, embeddings=embeddings)


class Run:
    """One training run."""

    def __init__(self, dataset: BagDataset, config: Any) -> None:
        self.config, self.labels = config, dataset.labels

    def epoch(self, epoch: int) -> EpochReport:
        """Train for one epoch, counted from 1."""
        raise NotImplementedError

    def fitted(self, history: tuple[EpochReport, ...]) -> FittedLearner:
        """What was learned in the epochs so far."""
        raise NotImplementedError

    def report(
        self,
        epoch: int,
        began: float,
        losses: Mapping[str, float],
        lr: float = 0.0,
        scores: Tensor | None = None,
        weights: Tensor | None = None,
    ) -> EpochReport:
        """The epoch that ends, with the training bags' scores and label weights (m, k) where a method has them."""
        if not math.isfinite(losses["total"]):
            raise InputError(
                f"Training broke down in epoch {epoch}: the loss is no longer a finite number.",
                "Choose a smaller learning rate (lr).",
            )
        right, found = (
            None if one is None else share_correct(one.cpu().numpy(), self.labels) for one in (scores, weights)
        )
        return EpochReport(
            epoch, self.config.epochs, losses, right, None, found, lr, seconds=time.perf_counter() - began
        )


def fit(
    dataset: BagDataset,
    config: LearnerSettings,
    *,
    on_epoch: Callable[[EpochReport], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
    device: str = "auto",
) -> FittedLearner:
    """Train the method that the settings belong to on the candidate sets; true labels are only reported on.

    `on_epoch` hears of each epoch; `should_stop` is asked after each. On a CPU the same seed always gives the same
    result.
    """
    on_device = resolve_device(device, getattr(config, "dtype", "float64"))
    if not Team.present(on_device).alone:
        raise InputError("Several processes can only train a network together.", "Train this method with one process.")
    with one_thread(), threadpool_limits(1):
        run = config.run(dataset, on_device)
        history: list[EpochReport] = []
        while len(history) < run.config.epochs:
            history.append(run.epoch(len(history) + 1))
            if on_epoch is not None:
                on_epoch(history[-1])
            if should_stop is not None and should_stop():
                break
        return run.fitted(tuple(history))


class BagwiseRun(Run):
    """A network that descends by a few bags per step, on the CPU, while the weights of their labels move."""

    def __init__(self, dataset: BagDataset, config: Any) -> None:
        super().__init__(dataset, config)
        self.scaler = fit_scaler(dataset.instances, config.scaling)
        scaled, dtype = self.scaler.transform(dataset.instances, config.dtype), getattr(torch, config.dtype)
        self.bags = PackedBags.pack(scaled, np.asarray(dataset.sizes), dtype, torch.device("cpu"))
        self.candidates = torch.tensor(dataset.candidates)
        self.weights = initial_weights(self.candidates, self.bags.dtype)
        self.draws = torch.Generator().manual_seed(config.seed)
        self.network = self.build(dataset)
        self.optimizer = self.fresh_optimizer()

    def build(self, dataset: BagDataset) -> Any:
        """The untrained network."""
        raise NotImplementedError

    def begin(self, epoch: int) -> float:
        """Prepare an epoch; its learning rate."""
        raise NotImplementedError

    def step(self, batch: Batch, candidates: Tensor, weights: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The loss of some bags, a mean, with a gradient; their energies (B, k); and their weights after the step."""
        raise NotImplementedError

    def fresh_optimizer(self) -> torch.optim.SGD:
        """SGD with Nesterov momentum."""
        config, moved = self.config, self.network.parameters()
        nesterov = config.momentum > 0
        return torch.optim.SGD(moved, config.lr, config.momentum, weight_decay=config.weight_decay, nesterov=nesterov)

    def epoch(self, epoch: int) -> EpochReport:
        """Every bag once, in random order."""
        began, m, lr = time.perf_counter(), len(self.labels), self.begin(epoch)
        self.optimizer.param_groups[0]["lr"] = lr
        order = torch.randperm(m, generator=self.draws)
        total, probabilities = 0.0, torch.empty_like(self.weights)
        for batch in self.bags.batches(self.config.batch, order):
            some = order[batch.members]
            value, energies, moved = self.step(batch, self.candidates[some], self.weights[some])
            self.optimizer.zero_grad()
            value.backward()
            self.optimizer.step()
            probabilities[some] = energies.detach().softmax(1)
            self.weights[some] = moved.detach()
            total += value.item() * len(some)
        return self.report(epoch, began, {"total": total / m}, lr, probabilities, self.weights)

    def fitted(self, history: tuple[EpochReport, ...]) -> FittedNetwork:
        """The network of the last epoch."""
        return FittedNetwork(self.config, history, self.scaler, self.network, self.weights.double().numpy())


def check_width(dataset: BagDataset, dim: int) -> None:
    """Refuse bags of other features than those learned from."""
    if dataset.dim != dim:
        raise InputError(
            f"The method has learned from instances of {dim} features, but these have {dataset.dim}.",
            "Use bags made by the same generator.",
        )


def usable_bytes() -> int:
    """A cautious share of the memory that is free now, container limits included."""
    free = psutil.virtual_memory().available
    try:
        limit, used = ((_CGROUP / f"memory.{name}").read_text(encoding="ascii").strip() for name in ("max", "current"))
    except OSError:
        limit, used = "max", "0"
    if limit != "max":
        free = min(free, max(int(limit) - int(used), 0))
    return int(_SHARE * free)


def check_memory(needed: int, what: str, instead: str) -> None:
    """Refuse what needs more memory than is free; `what` ends in “need” or “needs”."""
    free = usable_bytes()
    if needed > free:
        raise InputError(f"{what} {needed / 1e9:.1f} GB of memory, but only {free / 1e9:.1f} GB are free.", instead)
