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
from bag_generators.storage import check_writable
from elimipl.config import Config
from elimipl.dataset import BagDataset
from elimipl.model.beliefs import initial_weights, move_weights
from elimipl.model.device import resolve_device
from elimipl.model.inference import Outputs, infer, infer_packed, one_thread, share_correct
from elimipl.model.losses import attention_entropy_gradient, loss_gradient, loss_values
from elimipl.model.network import BagOutputs, Network, build_network
from elimipl.training.batching import Batch, PackedBags
from elimipl.training.checkpoint import Checkpoint
from elimipl.training.optimizer import FlatSGD
from elimipl.training.reports import EpochReport, Snapshot
from elimipl.training.scaling import Scaler, fit_scaler

CHECKPOINT_SECONDS = 5.0
"""A checkpoint is written at most this often, and always when training ends."""


@dataclass(frozen=True, eq=False)
class Fitted:
    """A trained model and how it came about."""

    network: Network
    config: Config
    scaler: Scaler
    weights: np.ndarray  # (m, k) float64, the final disambiguation weights of the training bags
    history: tuple[EpochReport, ...]
    unsaved: InputError | None = None
    """Why the last checkpoint could not be written; None when it was, or none was asked for."""

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

    `held_out` bags are predicted after every epoch. `on_epoch` hears of each epoch; `should_stop` is asked
    after each. With `checkpoint` the state is saved as training goes, and `resume` takes it up again (or
    starts, when there is none yet): the model is bit for bit that of an uninterrupted run. A place that can't be
    written is refused before training; a disk that fills up later is told in the result, and training goes on.
    On a CPU the same seed always gives the same model.
    """
    with one_thread():
        run = _Run(dataset, config, held_out, resolve_device(device, config.dtype))
        keeper = None if checkpoint is None else Checkpoint(Path(checkpoint), config, dataset)
        if keeper is not None and resume and keeper.path.exists():
            run.restore(*keeper.load())
        if keeper is not None:
            check_writable(keeper.path, "The checkpoint")
        saved, stopped, unsaved = time.monotonic(), False, None
        while len(run.history) < config.epochs and not stopped:
            report = run.epoch(len(run.history) + 1, with_snapshot=on_epoch is not None)
            run.history.append(replace(report, snapshot=None))
            if on_epoch is not None:
                on_epoch(report)
            stopped = should_stop is not None and should_stop()
            ends = stopped or report.epoch == config.epochs
            if keeper is not None and (ends or time.monotonic() - saved >= CHECKPOINT_SECONDS):
                unsaved = _refusal(keeper, run)
                saved = time.monotonic()
    weights = run.weights.double().cpu().numpy()
    return Fitted(run.network, config, run.scaler, weights, tuple(run.history), unsaved)


def _refusal(keeper: Checkpoint, run: _Run) -> InputError | None:
    """Save a checkpoint; why it could not be saved. A full disk is no reason to throw away what was learned."""
    try:
        keeper.save(run.tensors(), run.history)
    except InputError as error:
        return error
    return None


class _Run:
    """One training run on one device."""

    def __init__(self, dataset: BagDataset, config: Config, held_out: BagDataset | None, device: torch.device) -> None:
        self.config = config
        self.device = device
        self.labels = dataset.labels
        self.scaler = fit_scaler(dataset.instances, config.scaling)
        self.bags = self._pack(dataset)
        self.held_out = None if held_out is None else (self._pack(held_out), held_out.labels)
        self.candidates = torch.tensor(dataset.candidates, device=device)
        self.weights = initial_weights(self.candidates, self.bags.x.dtype)
        self.network = build_network(config, dataset.dim, dataset.n_classes).to(device)
        self.optimizer = FlatSGD(self.network, config.momentum, config.nesterov, config.weight_decay, config.clip)
        self.history: list[EpochReport] = []

    def _pack(self, dataset: BagDataset) -> PackedBags:
        scaled = self.scaler.transform(dataset.instances, self.config.dtype)
        return PackedBags.pack(scaled, dataset.sizes, getattr(torch, self.config.dtype), self.device)

    def tensors(self) -> dict[str, Tensor]:
        """Everything that training has moved so far."""
        optimizer = self.optimizer
        return {
            "parameters": optimizer.parameters,
            "velocity": optimizer.velocity,
            "weights": self.weights,
        }

    def restore(self, tensors: dict[str, Tensor], history: list[EpochReport]) -> None:
        """Take up the state of an earlier run."""
        for name, tensor in self.tensors().items():
            tensor.copy_(tensors[name])
        self.history = history

    def epoch(self, epoch: int, with_snapshot: bool) -> EpochReport:
        """Every bag once, in an order and with a dropout that depend on (seed, epoch) alone."""
        began = time.perf_counter()
        generator = torch.Generator(self.device).manual_seed(_epoch_seed(self.config.seed, epoch))
        order = torch.randperm(len(self.labels), generator=generator, device=self.device)
        bags, candidates, weights = self.bags.reordered(order), self.candidates[order], self.weights[order]
        in_loss = torch.empty_like(weights)
        energies, scores = torch.empty_like(weights), bags.x.new_empty(len(bags.x))
        for batch in bags.batches(self.config.batch):
            some = batch.members
            out = self._step(batch, candidates[some], weights[some], in_loss[some], epoch, generator)
            energies[some], scores[batch.rows] = out.energies.detach(), out.scores.detach()
        self.weights[order] = weights
        losses = loss_values(energies, scores, candidates, in_loss, self.config)
        if not np.isfinite(losses["total"]):
            raise InputError(
                f"Training broke down in epoch {epoch}: the loss is no longer a finite number.",
                "Choose a smaller learning rate (lr), or standardise the features (scaling='zscore').",
            )
        probabilities = torch.empty_like(energies).index_copy_(0, order, energies.softmax(1)).cpu().numpy()
        belief = self.weights.cpu().numpy()
        return EpochReport(
            epoch=epoch,
            epochs=self.config.epochs,
            losses=losses,
            train_accuracy=share_correct(probabilities, self.labels),
            held_out_accuracy=self._held_out_accuracy(),
            disambiguation_accuracy=share_correct(belief, self.labels),
            lr=self.config.learning_rate(epoch),
            seconds=time.perf_counter() - began,
            snapshot=Snapshot(probabilities, belief.copy()) if with_snapshot else None,
        )

    def _step(
        self,
        batch: Batch,
        candidates: Tensor,
        weights: Tensor,
        in_loss: Tensor,
        epoch: int,
        generator: torch.Generator,
    ) -> BagOutputs:
        """One gradient step. Moves `weights` by eq. 6 and notes in `in_loss` those that the loss used."""
        config = self.config
        out = self.network(batch.x, batch.bag_of, len(candidates), generator)
        if config.update == "after_loss":
            in_loss.copy_(weights)
        if config.mapping == "momentum":
            move_weights(weights, out.energies.detach(), candidates, config.rho(epoch))
        if config.update == "before_loss":
            in_loss.copy_(weights)
        outputs = [out.energies]
        gradients = [loss_gradient(out.energies, candidates, in_loss, config)]
        if config.attention_entropy > 0:
            outputs.append(out.scores)
            slope = attention_entropy_gradient(out.scores.detach(), len(candidates))
            gradients.append(slope * config.attention_entropy)
        self.optimizer.step(outputs, gradients, config.learning_rate(epoch))
        return out

    def _held_out_accuracy(self) -> float | None:
        if self.held_out is None:
            return None
        bags, labels = self.held_out
        return infer_packed(self.network, bags).accuracy(labels)


def _epoch_seed(seed: int, epoch: int) -> int:
    return int(np.random.SeedSequence([seed, epoch]).generate_state(1)[0])
