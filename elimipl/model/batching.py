"""Ragged bags in memory or on disk, and mini-batches of them without looping bag by bag."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from elimipl.datasets.dataset import InstanceTable, LabelledBag, gathered
from elimipl.model.scaling import Scaler

_NUMBERS_AT_ONCE = 2**20


class Batch(NamedTuple):
    """Some consecutive bags of an epoch."""

    x: Tensor  # (n, d) their instances
    bag_of: Tensor  # (n,) the bag of each instance, counted from 0 within the batch
    members: slice  # which bags of the epoch these are

    @property
    def bags(self) -> int:
        """How many bags these are."""
        return int(self.members.stop - self.members.start)


class CollatedBags(NamedTuple):
    """Any b bags with altogether n instances, as a torch `DataLoader` hands them out."""

    x: Tensor  # (n, d) float32, the instances of the first bag, then those of the second, …
    bag_of: Tensor  # (n,) int64, the bag of each instance, counted from 0
    candidates: Tensor  # (b, k) bool
    labels: Tensor  # (b,) int64, −1 = unknown
    names: tuple[str, ...]


def collate_bags(bags: Sequence[LabelledBag]) -> CollatedBags:
    """Join bags of different sizes: `DataLoader(dataset, batch_size=32, collate_fn=collate_bags)`."""
    sizes = torch.tensor([len(bag.features) for bag in bags])
    return CollatedBags(
        x=torch.from_numpy(np.concatenate([bag.features for bag in bags])),
        bag_of=torch.repeat_interleave(torch.arange(len(bags)), sizes),
        candidates=torch.from_numpy(np.stack([bag.candidates for bag in bags])),
        labels=torch.tensor([bag.label for bag in bags]),
        names=tuple(bag.name for bag in bags),
    )


def even_ends(bags: int, size: int) -> list[int]:
    """Where steps of at most `size` bags end, beginning with 0: as equal as possible, so that none has a few leftovers.

    >>> even_ends(10, 4)
    [0, 3, 6, 10]
    """
    steps = -(-bags // size)
    return [step * bags // steps for step in range(steps + 1)] if steps else [0]


@dataclass(frozen=True, eq=False)
class Bags(ABC):
    """m bags of altogether N instances that an epoch goes through."""

    sizes: Tensor  # (m,) int64, instances in each bag, on the device
    dtype: torch.dtype
    device: torch.device

    def batches(self, size: int, order: Tensor | None = None) -> Iterator[Batch]:
        """At most `size` bags each, as equal as possible, in `order` (m,)."""
        return self.cut(even_ends(len(self.sizes), size), order)

    def cut(self, ends: Sequence[int], order: Tensor | None = None) -> Iterator[Batch]:
        """The bags `order[ends[i]:ends[i + 1]]` in batch i; several batches may be read at once."""
        sizes = self.sizes if order is None else self.sizes[order]
        rows = [0, *sizes.cumsum(0).tolist()]
        for first, last in pairwise(self._stretches([rows[end] for end in ends])):
            bags = slice(ends[first], ends[last])
            x = self._read(slice(rows[bags.start], rows[bags.stop]), None if order is None else order[bags])
            numbers = torch.arange(bags.start, bags.stop, device=self.device)
            bag_of = torch.repeat_interleave(numbers, sizes[bags])
            for start, stop in pairwise(ends[first : last + 1]):
                taken = slice(rows[start] - rows[bags.start], rows[stop] - rows[bags.start])
                yield Batch(x[taken], bag_of[taken] - start, slice(start, stop))

    def _rows_of(self, chosen: Tensor) -> Tensor:
        """The rows of some bags, bag after bag."""
        sizes = self.sizes[chosen]
        ends = sizes.cumsum(0)
        starts = (self.sizes.cumsum(0) - self.sizes)[chosen]
        rows = torch.arange(int(ends[-1]) if len(ends) else 0, device=self.device)
        return rows + torch.repeat_interleave(starts - (ends - sizes), sizes)

    @abstractmethod
    def _stretches(self, rows: Sequence[int]) -> list[int]:
        """Which of the batches that end at these rows are read at once: up to the first, the second, … number."""

    @abstractmethod
    def _read(self, rows: slice, chosen: Tensor | None) -> Tensor:
        """Standardised instances on the device: those of the `chosen` bags, or the rows where the order is theirs."""


@dataclass(frozen=True, eq=False)
class PackedBags(Bags):
    """Bags on the device: one gather per epoch, after which every batch is a slice."""

    x: Tensor  # (N, d)

    @classmethod
    def pack(cls, instances: np.ndarray, sizes: np.ndarray, dtype: torch.dtype, device: torch.device) -> PackedBags:
        """Copy standardised instances to the device."""
        return cls(torch.from_numpy(sizes).to(device), dtype, device, torch.from_numpy(instances).to(device, dtype))

    def _stretches(self, rows: Sequence[int]) -> list[int]:
        return [0, len(rows) - 1]

    def _read(self, rows: slice, chosen: Tensor | None) -> Tensor:
        return self.x[rows] if chosen is None else self.x.index_select(0, self._rows_of(chosen))


@dataclass(frozen=True, eq=False)
class StreamedBags(Bags):
    """Bags beyond memory, read where they lie: as many steps at a time as hold about a million numbers.

    Batches hold the very numbers of `PackedBags`, whatever the order.
    """

    instances: InstanceTable  # (N, d) float32, one bag after the other
    scaler: Scaler

    def _stretches(self, rows: Sequence[int]) -> list[int]:
        at_once = max(1, _NUMBERS_AT_ONCE // self.instances.shape[1])
        ends = [0]
        for batch in range(1, len(rows) - 1):
            if rows[batch + 1] - rows[ends[-1]] > at_once:
                ends.append(batch)
        return [*ends, len(rows) - 1]

    def _read(self, rows: slice, chosen: Tensor | None) -> Tensor:
        if chosen is None:
            read = self.instances[rows]
        else:
            read = gathered(self.instances, chosen.cpu().numpy(), lambda: self._rows_of(chosen).cpu().numpy())
        scaled = self.scaler.transform(read, str(self.dtype).removeprefix("torch."))
        return torch.from_numpy(scaled).to(self.device)
