"""Several processes that train one model: started by torchrun, gloo between CPUs, NCCL between GPUs.

`SharedBags` reads a part of every step's bags, and `SharedSteps` makes the outputs of the whole step of what each
process found, so that the loop sees whole steps: losses, disambiguation weights and reports are those of one process.
Only gradients are summed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, distributed

from bag_generators.base.errors import InputError
from elimipl.config import Config
from elimipl.datasets.dataset import BagDataset
from elimipl.model.batching import Bags, Batch, even_ends
from elimipl.model.embedding import SomeRows
from elimipl.model.network import BagOutputs
from elimipl.model.scaling import Scaler, fit_scaler
from elimipl.registries import OF_INSTANCES, Loss, asked_by
from elimipl.training.reports import EpochReport
from elimipl.training.steps import Moment, Steps


class Part(NamedTuple):
    """One of several processes that share the bags of every step: the `rank`-th of `size`."""

    rank: int = 0
    size: int = 1

    def of(self, count: int) -> slice:
        """Which of `count` bags are read by this process."""
        return slice(self.rank * count // self.size, (self.rank + 1) * count // self.size)


def started_by_torchrun() -> bool:
    """Whether this is one of several processes of a torchrun."""
    return int(os.environ.get("WORLD_SIZE") or 1) > 1 and "RANK" in os.environ and "MASTER_ADDR" in os.environ


def refuse_torchrun(instead: str) -> None:
    """Refuse a command that torchrun would only run several times over."""
    if started_by_torchrun():
        raise InputError("torchrun only helps training: each of its processes would do all of this.", instead)


def first_of_machine() -> bool:
    """Whether this process speaks for its machine."""
    return int(os.environ.get("LOCAL_RANK") or 0) == 0


@contextmanager
def joined(device: str) -> Iterator[tuple[Part, str]]:
    """Meet the other processes of a torchrun, if it started this one: which one this is, and its device.

    Within another `joined` the processes have met already; they can meet once only.
    """
    if not started_by_torchrun():
        yield Part(), device
        return
    on_gpu = device.startswith("cuda") or (device == "auto" and torch.cuda.is_available())
    own = f"cuda:{os.environ.get('LOCAL_RANK', '0')}" if on_gpu else "cpu"
    if distributed.is_initialized():
        yield Part(distributed.get_rank(), distributed.get_world_size()), own
        return
    if on_gpu:
        torch.cuda.set_device(own)
    distributed.init_process_group("nccl" if on_gpu else "gloo")
    try:
        yield Part(distributed.get_rank(), distributed.get_world_size()), own
    finally:
        distributed.destroy_process_group()


class SharedBatch(NamedTuple):
    """The bags of a step that are read here, and where they stand in it."""

    own: Batch
    members: slice  # which bags of the epoch the whole step has
    here: slice  # the bags read here, counted within the step
    rows_here: slice  # their instances, counted within the step
    rows: int  # instances of the whole step


class SharedBags(NamedTuple):
    """Bags of which this process reads its part of every step."""

    bags: Bags
    part: Part

    def batches(self, size: int, order: Tensor) -> Iterator[SharedBatch]:
        """At most `size` bags each, as one process would have them."""
        steps = [slice(*ends) for ends in pairwise(even_ends(len(order), size))]
        here = [self.part.of(step.stop - step.start) for step in steps]
        own = [slice(step.start + mine.start, step.start + mine.stop) for step, mine in zip(steps, here, strict=True)]
        rows = [0, *self.bags.sizes[order].cumsum(0).tolist()]
        ends = np.cumsum([0, *(mine.stop - mine.start for mine in own)]).tolist()
        batches = self.bags.cut(ends, torch.cat([order[mine] for mine in own]))
        for batch, step, inside, mine in zip(batches, steps, here, own, strict=True):
            begin = rows[step.start]
            rows_here = slice(rows[mine.start] - begin, rows[mine.stop] - begin)
            yield SharedBatch(batch, step, inside, rows_here, rows[step.stop] - begin)


class SharedSteps:
    """Steps whose outputs are those of all processes, while each goes back through its own bags only.

    A loss sees all bags of a step. Layers of others see those read here: what they draw, or average over a step,
    depends on the number of processes.
    """

    def __init__(self, steps: Steps, config: Config, loss: Loss | None) -> None:
        if loss is not None and (unknown := asked_by(loss, 3, OF_INSTANCES)):
            raise InputError(
                f"The loss asks for {unknown[0]}, which processes that share a step know in parts only.",
                "Train with one process.",
            )
        self._steps, self._config = steps, config
        self.losses, self.tensors = steps.losses, steps.tensors

    def epoch(self, seed: int, features: bool = False) -> AbstractContextManager[None]:
        """As the steps have it."""
        return self._steps.epoch(seed, features)

    def outputs(self, batch: SharedBatch, generator: torch.Generator) -> BagOutputs:
        """Energies of all bags; scores of all instances where the loss needs them, of those read here elsewhere."""
        out = self._steps.outputs(batch.own, SomeRows(generator, batch.rows_here.start, batch.rows))
        energies = _Whole.apply(out.energies, batch.here, batch.members.stop - batch.members.start)
        if self._config.attention_entropy == 0:
            return out._replace(energies=energies)
        return out._replace(energies=energies, scores=_Whole.apply(out.scores, batch.rows_here, batch.rows))

    def descend(self, out: BagOutputs, batch: SharedBatch, candidates: Tensor, weights: Tensor, moment: Moment) -> None:
        """As the steps have it."""
        self._steps.descend(out, batch.own, candidates, weights, moment)


class _Whole(torch.autograd.Function):
    """`count` rows of which this process has those at `here`, and others the rest."""

    @staticmethod
    def forward(ctx: Any, mine: Tensor, here: slice, count: int) -> Tensor:
        ctx.here = here
        rows = mine.new_zeros((count, *mine.shape[1:]))
        rows[here] = mine
        distributed.all_reduce(rows)
        return rows

    @staticmethod
    def backward(ctx: Any, slope: Tensor) -> tuple[Tensor, None, None]:
        return slope[ctx.here], None, None


@dataclass(frozen=True)
class Team:
    """The processes of this training, seen from one of them; one process alone passes through everything untouched."""

    part: Part
    device: torch.device

    @classmethod
    def present(cls, device: torch.device) -> Team:
        """Those that have `joined`; this process alone where nobody has."""
        if distributed.is_available() and distributed.is_initialized():
            return cls(Part(distributed.get_rank(), distributed.get_world_size()), device)
        return cls(Part(), device)

    @property
    def alone(self) -> bool:
        """Whether there is nobody to share with."""
        return self.part.size == 1

    @property
    def leads(self) -> bool:
        """Whether this is the one process that reads checkpoints, writes files and speaks."""
        return self.part.rank == 0

    def sum_(self, values: Tensor) -> Tensor:
        """The sum over all processes, in place."""
        if not self.alone:
            distributed.all_reduce(values)
        return values

    def add_up(self, values: Sequence[Tensor]) -> None:
        """The sum of each over all processes, in place and in one message."""
        summed = self.sum_(torch.cat([value.flatten() for value in values]))
        for value, part in zip(values, summed.split([value.numel() for value in values]), strict=True):
            value.copy_(part.view_as(value))

    def share(self, dataset: BagDataset | None) -> BagDataset | None:
        """The bags that this process predicts, if there are any."""
        if dataset is None or self.alone:
            return dataset
        own = np.arange(len(dataset))[self.part.of(len(dataset))]
        return dataset.subset(own) if len(own) else None

    def scaler(self, dataset: BagDataset, kind: str) -> Scaler:
        """The scaler of all processes: the first one reads the bags for it."""
        if self.alone:
            return fit_scaler(dataset.instances, kind)
        scaler: Scaler = self._known_to_first(fit_scaler(dataset.instances, kind) if self.leads else None)
        return scaler

    def from_first(self, tensors: Sequence[Tensor], history: Sequence[EpochReport]) -> list[EpochReport]:
        """Make tensors those of the first process, in place; gives the epochs so far, as it knows them."""
        if self.alone:
            return list(history)
        for value in tensors:
            distributed.broadcast(value, 0)
        return list(self._known_to_first(history))

    def any_asks(self, should_stop: Callable[[], bool] | None) -> bool:
        """Whether one of the processes is asked to stop: all must stop after the same epoch."""
        asked = should_stop is not None and should_stop()
        return asked if self.alone else bool(self.sum_(torch.tensor([float(asked)], device=self.device)) > 0)

    def _known_to_first(self, value: Any) -> Any:
        """What the first process knows; it alone need give a `value`."""
        sent = [value]
        distributed.broadcast_object_list(sent, 0, device=self.device)
        return sent[0]
