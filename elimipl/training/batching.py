"""Ragged bags on the device, and mini-batches of them without copying or looping bag by bag."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor


class Batch(NamedTuple):
    """Some consecutive bags of a `PackedBags`."""

    x: Tensor  # (n, d) their instances
    bag_of: Tensor  # (n,) the bag of each instance, counted from 0 within the batch
    members: slice  # which bags these are
    rows: slice  # which instances


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
