"""Several processes that train one model: started by torchrun, gloo between CPUs, NCCL between GPUs.

Every step's bags are divided between the processes. Each knows the energies of all of them, so that losses,
disambiguation weights and reports are those of the whole step; only gradients are summed. One process alone passes
through every function here untouched.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass

import numpy as np
import torch
from torch import Tensor, distributed

from bag_generators.errors import InputError
from elimipl.model.batching import Part
from elimipl.training.reports import EpochReport


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


@dataclass(frozen=True)
class Team:
    """The processes of this training, seen from one of them."""

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

    def whole(self, mine: Tensor, here: slice, count: int) -> Tensor:
        """`count` rows of which this process has those at `here`, and others the rest."""
        if self.alone:
            return mine
        rows = mine.new_zeros((count, *mine.shape[1:]))
        rows[here] = mine
        return self.sum_(rows)

    def from_first(self, values: Sequence[Tensor]) -> None:
        """Make tensors those of the first process, in place."""
        if not self.alone:
            for value in values:
                distributed.broadcast(value, 0)

    def array_from_first(self, array: np.ndarray) -> np.ndarray:
        """An array of a known shape, as the first process has it."""
        if self.alone:
            return array
        value = torch.tensor(array, device=self.device)
        self.from_first([value])
        return value.cpu().numpy()

    def history_from_first(self, history: Sequence[EpochReport]) -> list[EpochReport]:
        """The epochs so far, as the first process knows them."""
        if self.alone:
            return list(history)
        text = json.dumps([asdict(report) for report in history]).encode()
        length = int(self.array_from_first(np.array([len(text)]))[0])
        content = np.zeros(length, np.uint8)
        if self.leads:
            content[:] = np.frombuffer(text, np.uint8)
        return [EpochReport(**values) for values in json.loads(self.array_from_first(content).tobytes())]

    def any(self, wish: bool) -> bool:
        """Whether one of the processes wishes it: all must stop after the same epoch."""
        return wish if self.alone else bool(self.sum_(torch.tensor([float(wish)], device=self.device)) > 0)
