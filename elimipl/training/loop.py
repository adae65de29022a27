"""Algorithm 1: one training loop for every method, data set and front end."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from bag_generators.base.errors import InputError
from bag_generators.base.storage import check_writable
from bag_generators.base.threads import one_thread
from elimipl.config import Config
from elimipl.datasets.dataset import BagDataset
from elimipl.model.batching import Bags, PackedBags, StreamedBags
from elimipl.model.device import resolve_device
from elimipl.model.inference import Predictions, infer, infer_packed, share_correct
from elimipl.model.losses import MARGIN_LOSSES, initial_weights, move_weights
from elimipl.model.network import Network, build_network
from elimipl.model.scaling import Scaler
from elimipl.registries import (
    ATTENTIONS,
    CLI,
    LOSSES,
    POOLING,
    Attention,
    Loss,
    check_loss,
    checked_attention,
    checked_loss,
)
from elimipl.training.checkpoint import Checkpoint
from elimipl.training.reports import EpochReport, Snapshot
from elimipl.training.steps import FastSteps, Moment, PlainSteps, Steps
from elimipl.training.team import SharedBags, SharedSteps, Team

CHECKPOINT_SECONDS = 5.0
"""A checkpoint is written at most this often, and always when training ends."""
_EXTRACTED_AT_ONCE = 8  # bags: a convolution makes 15 numbers of one, which should stay in the processor's cache


@dataclass(frozen=True, eq=False)
class Fitted:
    """A trained model and how it came about. `elimipl.save_model` writes it into files."""

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

    def predict(self, dataset: BagDataset, *, embeddings: bool = False) -> Predictions:
        """Class probabilities of every bag and attention of every instance; with `embeddings` also z of every bag."""
        return infer(self.network, self.scaler, dataset.instances, dataset.sizes, embeddings=embeddings)

    def check_saveable(self) -> None:
        """Refuse a model that its two files could not bring back."""
        if self.network.has_own_extractor:
            raise InputError(
                "A model with an extractor of your own can't be saved: its card holds settings, not code.",
                "Keep the weights with safetensors, or use one of the extractors in the settings.",
            )
        if self.config.attention not in (POOLING, *ATTENTIONS):
            raise InputError(
                f"A model with the attention {self.config.attention!r} can't be saved: nobody could find it again.",
                "Register it with elimipl.register_attention, and name it in the settings.",
            )


def fit(
    dataset: BagDataset,
    config: Config,
    *,
    extractor: nn.Module | None = None,
    loss: Loss | None = None,
    attention: Attention | None = None,
    plain: bool = False,
    held_out: BagDataset | None = None,
    on_epoch: Callable[[EpochReport], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
    checkpoint: Path | None = None,
    resume: bool = False,
    device: str = "auto",
) -> Fitted:
    """Train on every bag of `dataset`; true labels are only reported on, unless `config.labels` says otherwise.

    `extractor` is any module that maps standardised instances (N, d) to (N, d'); it takes the place of ψ1, is copied
    and trained along from the weights it has. `attention` takes the place of eq. 3 (see `registries.Attention`)
    and `loss` that of eq. 9 (see `registries.Loss`); registered ones can be named in the settings instead. Any of
    them, or `plain`, trains by autograd and `torch.optim.SGD`; otherwise derivatives are written out by hand, with the
    same result.

    `held_out` bags are predicted after every epoch. `on_epoch` is called after each epoch with a report, which also
    holds the network; `should_stop` is asked after each. With `checkpoint` the state is saved as training goes, and
    `resume` continues from it (or starts, when there is none yet): the model is bit for bit that of an uninterrupted
    run. A file that can't be written is refused before training; if a disk fills up later, training goes on and the
    result says so. On a CPU the same seed always gives the same model.

    In each of several processes that have `joined` (`elimipl.training.team`) the same call trains one model together:
    `config.batch` bags a step are divided between them, and the first one keeps the checkpoint, which any number of
    processes can go on from.
    """
    if loss is not None:
        loss = checked_loss(loss)
        config = config.replace(loss=getattr(loss, "__name__", type(loss).__name__))
    elif config.loss != CLI:
        check_loss(config.loss)
        loss = MARGIN_LOSSES.get(config.loss) or LOSSES[config.loss]
    dataset = _as_learned_from(dataset, config)
    if attention is not None:
        attention = checked_attention(attention)
        config = config.replace(attention=getattr(attention, "__name__", type(attention).__name__))
    with one_thread():
        on_device = resolve_device(device, config.dtype)
        network = build_network(config, dataset.dim, dataset.n_classes, extractor, attention).to(on_device)
        team = Team.present(on_device)
        known = config.loss in (CLI, *MARGIN_LOSSES) and config.attention == POOLING
        by_hand = known and extractor is None and not plain
        way = FastSteps if by_hand else PlainSteps
        steps: Steps = way(network, config, loss, None if team.alone else team.add_up)
        run = _Run(dataset, held_out, network, steps, team)
        if not team.alone:
            run.steps = SharedSteps(steps, config, loss)
        keeper = None if checkpoint is None or not team.leads else Checkpoint(Path(checkpoint), config, dataset)
        if keeper is not None and resume and keeper.path.exists():
            run.restore(*keeper.load())
        if keeper is not None:
            check_writable(keeper.path, "The checkpoint")
        run.history = team.from_first(list(run.tensors().values()), run.history)
        saved, stopped, unsaved = time.monotonic(), False, None
        while len(run.history) < config.epochs and not stopped:
            report = run.epoch(len(run.history) + 1, with_snapshot=on_epoch is not None)
            run.history.append(replace(report, snapshot=None))
            if on_epoch is not None:
                on_epoch(report)
            stopped = team.any_asks(should_stop)
            ends = stopped or report.epoch == config.epochs
            if keeper is not None and (ends or time.monotonic() - saved >= CHECKPOINT_SECONDS):
                unsaved = None
                try:
                    keeper.save(run.tensors(), run.history)
                except InputError as error:  # a full disk is no reason to throw away what was learned
                    unsaved = error
                saved = time.monotonic()
    weights = run.weights.double().cpu().numpy()
    return Fitted(run.network, config, run.scaler, weights, tuple(run.history), unsaved)


def _as_learned_from(dataset: BagDataset, config: Config) -> BagDataset:
    """The bags with the labels that training may see: candidate sets, or the true labels alone."""
    if config.labels == "candidates":
        return dataset
    if unknown := int((dataset.labels < 0).sum()):
        raise InputError(
            f"{config.method.upper()} learns from true labels, but {unknown} of {len(dataset)} bags have none.",
            "Leave these bags out, or choose a method that learns from candidate sets.",
        )
    return dataset.with_candidates(np.eye(dataset.n_classes, dtype=bool)[dataset.labels])


class _Run:
    """One training run on one device."""

    def __init__(
        self, dataset: BagDataset, held_out: BagDataset | None, network: Network, steps: Steps, team: Team
    ) -> None:
        config = network.config
        self.config, self.network, self.team = config, network, team
        self.steps: Any = steps
        self.device = device = network.embed.weight.device
        self.labels = dataset.labels
        self.scaler = team.scaler(dataset, config.scaling)
        self.bags = self._pack(dataset)
        self._features: Bags | None = None  # of ψ1, while it is not trained
        held_out = team.share(held_out)
        self.held_out = None if held_out is None else (self._pack(held_out), held_out.labels)
        self.candidates = torch.tensor(dataset.candidates, device=device)
        self.weights = initial_weights(self.candidates, getattr(torch, config.dtype))
        self.history: list[EpochReport] = []

    def _pack(self, dataset: BagDataset) -> Bags:
        """Bags on the device; those that lie on disk stay there and are read as they are needed."""
        dtype = getattr(torch, self.config.dtype)
        if dataset.on_disk:
            sizes = torch.from_numpy(dataset.sizes).to(self.device)
            return StreamedBags(sizes, dtype, self.device, dataset.instances, self.scaler)
        scaled = self.scaler.transform(dataset.instances, self.config.dtype)
        return PackedBags.pack(scaled, dataset.sizes, dtype, self.device)

    def _learned_from(self, epoch: int) -> tuple[Any, bool]:
        """The bags of an epoch, and whether they are features of ψ1."""
        features = not self.config.trains_extractor(epoch) and any(True for _ in self.network.extractor.parameters())
        if not features:
            self._features = None
        elif self._features is None:
            self._features = self._extracted()
        bags = self._features or self.bags
        return bags if self.team.alone else SharedBags(bags, self.team.part), features

    def _extracted(self) -> Bags:
        """All bags as ψ1 sees them now."""
        self.network.eval()
        with torch.no_grad():
            x = torch.cat([self.network.extractor(batch.x) for batch in self.bags.batches(_EXTRACTED_AT_ONCE)])
        return PackedBags(self.bags.sizes, self.bags.dtype, self.device, x)

    def tensors(self) -> dict[str, Tensor]:
        """Everything that training has moved so far."""
        return {**self.steps.tensors(), "weights": self.weights}

    def restore(self, tensors: dict[str, Tensor], history: list[EpochReport]) -> None:
        """Continue from the state of an earlier run."""
        here = self.tensors()
        if {name: one.shape for name, one in here.items()} != {name: one.shape for name, one in tensors.items()}:
            raise InputError(
                "The checkpoint belongs to another network.",
                "Resume with the same extractor and in the same way, or start without resuming.",
            )
        for name, tensor in here.items():
            tensor.copy_(tensors[name])
        self.history = history
        self.network.at_epoch(len(history))

    def epoch(self, epoch: int, with_snapshot: bool) -> EpochReport:
        """Every bag once, in an order and with a dropout that depend on (seed, epoch) alone."""
        began = time.perf_counter()
        self.network.at_epoch(epoch)
        seed = int(np.random.SeedSequence([self.config.seed, epoch]).generate_state(1)[0])
        generator = torch.Generator(self.device).manual_seed(seed)
        order = torch.randperm(len(self.labels), generator=generator, device=self.device)
        candidates, weights = self.candidates[order], self.weights[order]
        in_loss, energies = torch.empty_like(weights), torch.empty_like(weights)
        scores, rho = [], self.config.rho(epoch)
        bags, features = self._learned_from(epoch)
        with self.steps.epoch(seed, features):
            for batch in bags.batches(self.config.batch, order):
                some = batch.members
                out = self.steps.outputs(batch, generator)
                energies[some] = out.energies.detach()
                scores.append(out.scores.detach())
                if self.config.update == "after_loss":
                    in_loss[some] = weights[some]
                if self.config.mapping == "momentum":
                    move_weights(weights[some], energies[some], candidates[some], rho)
                if self.config.update == "before_loss":
                    in_loss[some] = weights[some]
                self.steps.descend(out, batch, candidates[some], in_loss[some], Moment(epoch, order[some]))
        self.weights[order] = weights
        losses = self.steps.losses(energies, torch.cat(scores), candidates, in_loss)
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
            snapshot=Snapshot(probabilities, belief.copy(), self.network) if with_snapshot else None,
        )

    def _held_out_accuracy(self) -> float | None:
        right, known = 0, 0
        if self.held_out is not None:
            bags, labels = self.held_out
            found = infer_packed(self.network, bags).probabilities.argmax(1)
            right, known = int((found == labels).sum()), int((labels >= 0).sum())
        counts = self.team.sum_(torch.tensor([right, known], device=self.device)).tolist()
        return counts[0] / counts[1] if counts[1] else None
