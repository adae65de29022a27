"""Algorithm 1: one training loop for every method, data set and front end."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from bag_generators.errors import InputError
from elimipl import checkpoint as checkpoints
from elimipl.batching import PackedBags
from elimipl.config import Config
from elimipl.dataset import BagDataset
from elimipl.device import resolve_device
from elimipl.disambiguation import initial_weights, updated_weights
from elimipl.inference import Outputs, infer, infer_packed, one_thread, share_correct
from elimipl.losses import Losses, cli_loss
from elimipl.network import Network, build_network
from elimipl.reports import EpochReport, Snapshot
from elimipl.scaling import Scaler, fit_scaler

CHECKPOINT_SECONDS = 5.0
"""A checkpoint is written at most this often, and always after the last epoch."""


@dataclass(frozen=True, eq=False)
class Fitted:
    """A trained model and how it came about."""

    network: Network
    config: Config
    scaler: Scaler
    weights: np.ndarray  # (m, k) float64, the final disambiguation weights of the training bags
    history: tuple[EpochReport, ...]

    @property
    def stopped(self) -> bool:
        """Whether training ended on request, before its last epoch."""
        return len(self.history) < self.config.epochs

    def predict(self, dataset: BagDataset) -> Outputs:
        """Class probabilities of every bag and attention of every instance."""
        return infer(self.network, self.scaler, dataset.instances, dataset.sizes)


def fit(
    dataset: BagDataset,
    config: Config,
    *,
    held_out: BagDataset | None = None,
    on_epoch: Callable[[EpochReport], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
    checkpoint: Path | None = None,
    resume: bool = False,
    device: str = "auto",
) -> Fitted:
    """Train on every bag of `dataset`; true labels are only reported on, never learned from.

    `held_out` bags are predicted after every epoch. `on_epoch` hears about each epoch; `should_stop` is asked after
    each. With `checkpoint` the state is saved as training goes, and `resume` continues from it (or starts, when
    there is none yet): the result is bit for bit that of an uninterrupted run. On a CPU the same seed always gives
    the same model.
    """
    with one_thread():
        run = _Run(dataset, config, held_out, resolve_device(device, config.dtype))
        if checkpoint is not None and resume and checkpoint.exists():
            run.history = checkpoints.load(
                checkpoint, config, dataset, run.network, run.optimizer, run.weights
            )
        saved = time.monotonic()
        stopped = False
        while len(run.history) < config.epochs and not stopped:
            report = run.epoch(len(run.history) + 1, with_snapshot=on_epoch is not None)
            run.history.append(replace(report, snapshot=None))
            if on_epoch is not None:
                on_epoch(report)
            stopped = should_stop is not None and should_stop()
            ends = stopped or report.epoch == config.epochs
            if checkpoint is not None and (ends or time.monotonic() - saved >= CHECKPOINT_SECONDS):
                checkpoints.save(
                    checkpoint, config, dataset, run.network, run.optimizer, run.weights, run.history
                )
                saved = time.monotonic()
    return Fitted(run.network, config, run.scaler, run.weights.cpu().numpy(), tuple(run.history))


class _Run:
    """The state of one training run on one device."""

    def __init__(
        self, dataset: BagDataset, config: Config, held_out: BagDataset | None, device: torch.device
    ) -> None:
        self.config = config
        self.device = device
        self.labels = dataset.labels
        self.scaler = fit_scaler(dataset.instances, config.scaling)
        self.bags = self._pack(dataset)
        self.candidates = torch.from_numpy(dataset.candidates.copy()).to(device)
        self.network = build_network(config, dataset.dim, dataset.n_classes).to(device)
        self.weights = initial_weights(self.candidates).to(self.bags.x.dtype)
        self.held_out = None if held_out is None else (self._pack(held_out), held_out.labels)
        self.history: list[EpochReport] = []
        self.optimizer = torch.optim.SGD(
            self.network.parameters(),
            lr=config.lr,
            momentum=config.momentum,
            nesterov=config.nesterov,
            weight_decay=config.weight_decay,
            fused=True,
        )

    def _pack(self, dataset: BagDataset) -> PackedBags:
        scaled = self.scaler.transform(dataset.instances)
        return PackedBags.pack(scaled, dataset.sizes, getattr(torch, self.config.dtype), self.device)

    def epoch(self, epoch: int, with_snapshot: bool) -> EpochReport:
        """Every bag once, in an order and with a dropout that depend on (seed, epoch) alone."""
        began = time.perf_counter()
        state = np.random.SeedSequence([self.config.seed, epoch]).generate_state(1)[0]
        generator = torch.Generator(self.device).manual_seed(int(state))
        lr = self.config.learning_rate(epoch)
        for group in self.optimizer.param_groups:
            group["lr"] = lr
        order = torch.randperm(len(self.labels), generator=generator, device=self.device)
        bags, candidates, weights = self.bags.reordered(order), self.candidates[order], self.weights[order]
        energies = torch.empty_like(weights)
        sums = torch.zeros(len(Losses._fields), dtype=weights.dtype, device=self.device)
        for batch in bags.batches(self.config.batch):
            rows = batch.members
            energies[rows], losses = self._step(
                batch.x, batch.bag_of, candidates[rows], weights[rows], epoch, generator
            )
            sums += losses * (rows.stop - rows.start)
        self.weights[order] = weights
        means = dict(zip(Losses._fields, (sums / len(order)).tolist(), strict=True))
        if not np.isfinite(means["total"]):
            raise InputError(
                f"Training broke down in epoch {epoch}: the loss is no longer a finite number.",
                "Choose a smaller learning rate (lr), or standardise the features (scaling='zscore').",
            )
        probabilities = torch.empty_like(energies).index_copy_(0, order, energies.softmax(1)).cpu().numpy()
        belief = self.weights.cpu().numpy()
        held_out = None if self.held_out is None else infer_packed(self.network, self.held_out[0])
        return EpochReport(
            epoch=epoch,
            epochs=self.config.epochs,
            losses=means,
            train_accuracy=share_correct(probabilities, self.labels),
            held_out_accuracy=None
            if held_out is None or self.held_out is None
            else held_out.accuracy(self.held_out[1]),
            disambiguation_accuracy=share_correct(belief, self.labels),
            lr=lr,
            seconds=time.perf_counter() - began,
            snapshot=Snapshot(probabilities, belief.copy()) if with_snapshot else None,
        )

    def _step(
        self,
        x: Tensor,
        bag_of: Tensor,
        candidates: Tensor,
        weights: Tensor,
        epoch: int,
        generator: torch.Generator,
    ) -> tuple[Tensor, Tensor]:
        """One gradient step; moves `weights` in place by eq. 6. Returns the energies and the parts of the loss."""
        out = self.network(x, bag_of, len(candidates), generator)
        moved = weights
        if self.config.mapping == "momentum":
            moved = updated_weights(weights, out.energies, candidates, self.config.rho(epoch))
        losses = cli_loss(
            out, candidates, moved if self.config.update == "before_loss" else weights, self.config
        )
        self.optimizer.zero_grad()
        losses.total.backward()
        self.optimizer.step()
        weights.copy_(moved)
        return out.energies.detach(), torch.stack(losses).detach()
