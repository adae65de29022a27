"""Ragged bags on the device, and mini-batches of them without copying or looping bag by bag."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from elimipl.dataset import LabelledBag


class Batch(NamedTuple):
    """Some consecutive bags of a `PackedBags`."""

    x: Tensor  # (n, d) their instances
    bag_of: Tensor  # (n,) the bag of each instance, counted from 0 within the batch
    members: slice  # which bags these are
    rows: slice  # which instances


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


@dataclass(frozen=True, eq=False)
class PackedBags:
    """m bags one after the other: x (N, d) and sizes (m,)."""

    x: Tensor
    sizes: Tensor

    @classmethod
    def pack(cls, instances: np.ndarray, sizes: np.ndarray, dtype: torch.dtype, device: torch.device) -> PackedBags:
        """Copy standardised instances to the device."""
        return cls(torch.from_numpy(instances).to(device, dtype), torch.from_numpy(sizes).to(device))

    def reordered(self, order: Tensor) -> PackedBags:
        """The same bags in another order: one gather an epoch, after which every batch is a slice."""
        sizes = self.sizes[order]
        old_start = (self.sizes.cumsum(0) - self.sizes)[order]
        new_start = sizes.cumsum(0) - sizes
        rows = torch.repeat_interleave(old_start - new_start, sizes) + torch.arange(len(self.x), device=order.device)
        return PackedBags(self.x.index_select(0, rows), sizes)

    def batches(self, size: int) -> Iterator[Batch]:
        """At most `size` bags each, as equal as possible, so that no step rests on a few leftovers."""
        m = len(self.sizes)
        steps = -(-m // size)
        ends = [0, *self.sizes.cumsum(0).tolist()]
        bag_of = torch.repeat_interleave(torch.arange(m, device=self.x.device), self.sizes)
        for step in range(steps):
            first, last = step * m // steps, (step + 1) * m // steps
            rows = slice(ends[first], ends[last])
            yield Batch(self.x[rows], bag_of[rows] - first, slice(first, last), rows)
