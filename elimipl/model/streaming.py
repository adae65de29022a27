"""Bags beyond memory: read where they lie, a few steps at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from elimipl.dataset import InstanceTable, gathered
from elimipl.model.batching import WHOLE, Batch, Part, Plan, rows_of
from elimipl.model.scaling import Scaler

_NUMBERS_AT_ONCE = 2**20


@dataclass(frozen=True, eq=False)
class StreamedBags:
    """m bags of which only the next few steps are in memory, standardised and on the device.

    Batches hold the very numbers of `PackedBags`, whatever the order.
    """

    instances: InstanceTable  # (N, d) float32, one bag after the other
    sizes: Tensor  # (m,) int64, on the device
    scaler: Scaler
    dtype: torch.dtype
    device: torch.device

    def batches(self, size: int, order: Tensor | None = None, part: Part = WHOLE) -> Iterator[Batch]:
        """As many steps at a time as hold about a million numbers."""
        plan = Plan.of(self.sizes if order is None else self.sizes[order], size, part)
        starts = self.sizes.cumsum(0) - self.sizes
        for steps in self._stretches(plan):
            if order is None and part == WHOLE:
                first, last = plan.steps[steps][0][0].start, plan.steps[steps][-1][0].stop
                read = self.instances[plan.ends[first] : plan.ends[last]]
            else:
                here = plan.bags_here(steps)
                read = self._read(here if order is None else order[here], starts)
            x = self.scaler.transform(read, str(self.dtype).removeprefix("torch."))
            yield from plan.cut(torch.from_numpy(x).to(self.device), steps)

    def _read(self, chosen: Tensor, starts: Tensor) -> np.ndarray:
        """The instances of some bags, one bag after the other."""
        return gathered(
            self.instances,
            chosen.cpu().numpy(),
            lambda: rows_of(starts[chosen], self.sizes[chosen]).cpu().numpy(),
        )

    def _stretches(self, plan: Plan) -> Iterator[slice]:
        """The steps of an epoch, several in a row."""
        at_once = max(1, _NUMBERS_AT_ONCE // self.instances.shape[1])
        first = 0
        for step, (members, _) in enumerate(plan.steps):
            begun = plan.ends[plan.steps[first][0].start]
            if step > first and plan.ends[members.stop] - begun > at_once:
                yield slice(first, step)
                first = step
        yield slice(first, len(plan.steps))
