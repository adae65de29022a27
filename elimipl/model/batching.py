"""Ragged bags on the device, and mini-batches of them without copying or looping bag by bag."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor

from elimipl.dataset import LabelledBag


class Part(NamedTuple):
    """One of several processes that share the bags of every step: the `rank`-th of `size`."""

    rank: int = 0
    size: int = 1

    def of(self, count: int) -> slice:
        """Which of `count` bags are read by this process."""
        return slice(self.rank * count // self.size, (self.rank + 1) * count // self.size)


WHOLE = Part()
"""The only process, which reads everything."""


class Batch(NamedTuple):
    """Some consecutive bags of an epoch, and the instances of those that are read here."""

    x: Tensor  # (n, d) instances of the bags that are read here: of all, unless processes share them
    bag_of: Tensor  # (n,) the bag of each instance, counted from 0 within those read here
    members: slice  # which bags of the epoch these are
    rows: slice  # which instances
    here: slice  # the bags read here, counted within the batch
    rows_here: slice  # their instances, counted within the batch

    @property
    def bags(self) -> int:
        """How many bags these are."""
        return int(self.members.stop - self.members.start)

    @property
    def bags_here(self) -> int:
        """How many bags are read here."""
        return int(self.here.stop - self.here.start)


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


class Bags(Protocol):
    """m bags of altogether N instances that an epoch goes through."""

    @property
    def sizes(self) -> Tensor:
        """Instances in each bag, (m,) int64."""

    @property
    def dtype(self) -> torch.dtype:
        """Of the numbers in batches."""

    @property
    def device(self) -> torch.device:
        """Where batches are."""

    def batches(self, size: int, order: Tensor | None = None, part: Part = WHOLE) -> Iterator[Batch]:
        """At most `size` bags each, as equal as possible, in `order` (m,); of each the instances of `part`."""


@dataclass(frozen=True, eq=False)
class PackedBags:
    """Bags on the device, one after the other: x (N, d) and sizes (m,)."""

    x: Tensor
    sizes: Tensor

    @classmethod
    def pack(cls, instances: np.ndarray, sizes: np.ndarray, dtype: torch.dtype, device: torch.device) -> PackedBags:
        """Copy standardised instances to the device."""
        return cls(torch.from_numpy(instances).to(device, dtype), torch.from_numpy(sizes).to(device))

    @property
    def dtype(self) -> torch.dtype:
        """Of the numbers."""
        return self.x.dtype

    @property
    def device(self) -> torch.device:
        """Where the numbers are."""
        return self.x.device

    def batches(self, size: int, order: Tensor | None = None, part: Part = WHOLE) -> Iterator[Batch]:
        """One gather an epoch, after which every batch is a slice; none where the order is that of the bags."""
        plan = Plan.of(self.sizes if order is None else self.sizes[order], size, part)
        if order is None and part == WHOLE:
            return plan.cut(self.x)
        order = torch.arange(len(self.sizes), device=self.device) if order is None else order
        starts = self.sizes.cumsum(0) - self.sizes
        chosen = order if part == WHOLE else order[plan.bags_here()]
        return plan.cut(self.x.index_select(0, rows_of(starts[chosen], self.sizes[chosen])))


def rows_of(starts: Tensor, sizes: Tensor) -> Tensor:
    """The rows of bags that start at `starts` (b,) and have `sizes` (b,) instances, bag after bag."""
    ends = sizes.cumsum(0)
    rows = torch.arange(int(ends[-1]) if len(ends) else 0, device=sizes.device)
    return rows + torch.repeat_interleave(starts - (ends - sizes), sizes)


@dataclass(frozen=True, eq=False)
class Plan:
    """How an epoch's bags are divided into steps, and those between processes: as equal as possible.

    No step rests on a few leftovers, and every process knows the steps of all.
    """

    sizes: Tensor  # (m,) in the order of the epoch
    ends: list[int]  # m + 1 row numbers: where each bag begins, and the last one ends
    steps: list[tuple[slice, slice]]  # bags of each step, and those of them that are read here

    @classmethod
    def of(cls, sizes: Tensor, size: int, part: Part = WHOLE) -> Plan:
        """Steps of at most `size` bags."""
        m = len(sizes)
        count = -(-m // size)
        steps = []
        for step in range(count):
            first, last = step * m // count, (step + 1) * m // count
            mine = part.of(last - first)
            steps.append((slice(first, last), slice(first + mine.start, first + mine.stop)))
        return cls(sizes, [0, *sizes.cumsum(0).tolist()], steps)

    def bags_here(self, steps: slice = slice(None)) -> Tensor:
        """Which bags some steps read here."""
        ranges = [torch.arange(here.start, here.stop) for _, here in self.steps[steps]]
        return torch.cat(ranges).to(self.sizes.device)

    def cut(self, x: Tensor, steps: slice = slice(None)) -> Iterator[Batch]:
        """The batches of some steps, given the instances of all bags they read here, one after the other."""
        chosen, ends = self.steps[steps], self.ends
        if not chosen:
            return
        begin, end = chosen[0][0].start, chosen[-1][0].stop
        bags = torch.arange(begin, end, device=x.device)
        all_here = len(x) == ends[end] - ends[begin]
        bag_of = torch.repeat_interleave(bags, self.sizes[begin:end]) if all_here else None
        at = 0
        for members, here in chosen:
            rows, mine = (slice(ends[bags.start], ends[bags.stop]) for bags in (members, here))
            taken = slice(at, at + mine.stop - mine.start)
            if bag_of is None:
                numbers = torch.arange(here.stop - here.start, device=x.device)
                numbered = torch.repeat_interleave(numbers, self.sizes[here])
            else:
                numbered = bag_of[taken] - here.start
            yield Batch(
                x[taken],
                numbered,
                members,
                rows,
                slice(here.start - members.start, here.stop - members.start),
                slice(mine.start - rows.start, mine.stop - rows.start),
            )
            at = taken.stop
