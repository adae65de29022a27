"""An unfinished training run on disk: one safetensors file, replaced whole, with no code inside.

Orders and dropout are drawn anew from (seed, epoch), so the parameters, their velocity and the
disambiguation weights after a whole number of epochs are all there is to keep.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bag_generators.base.errors import InputError
from bag_generators.base.storage import ForeignFileError, read_tensors, write_tensors
from bag_generators.base.validation import Record, validated
from elimipl.config import Config
from elimipl.datasets.dataset import BagDataset
from elimipl.training.reports import EpochReport

_METADATA_KEY = "elimipl.checkpoint"
_ROWS_AT_ONCE = 2**16


class _Epoch(Record):
    """An `EpochReport` as it is kept, without the snapshot."""

    epoch: int
    epochs: int
    losses: dict[str, float]
    train_accuracy: float | None
    held_out_accuracy: float | None
    disambiguation_accuracy: float | None
    lr: float
    seconds: float
    snapshot: None = None


class _Description(Record):
    """What a checkpoint says about its run."""

    config: dict[str, Any]
    data: str  # sha256 of the bags
    history: list[_Epoch]


class Checkpoint:
    """The file in which one run (these settings, these bags) keeps its state."""

    def __init__(self, path: Path, config: Config, dataset: BagDataset) -> None:
        self.path = path
        self._config = config.to_dict()
        self._data = _fingerprint(dataset)

    def save(self, tensors: Mapping[str, Tensor], history: Sequence[EpochReport]) -> None:
        """Write the state after the last epoch of `history`; a crash leaves the old file or the new one."""
        epochs = [asdict(replace(report, snapshot=None)) for report in history]
        arrays = {name: value.contiguous().cpu().numpy() for name, value in tensors.items()}
        described = {"config": self._config, "data": self._data, "history": epochs}
        write_tensors(self.path, arrays, _METADATA_KEY, described, "The checkpoint")

    def load(self) -> tuple[dict[str, Tensor], list[EpochReport]]:
        """What `save` wrote, refused when it belongs to other settings or other bags."""
        try:
            arrays, values = read_tensors(self.path, _METADATA_KEY, str(self.path))
            described = validated(_Description, values, "The checkpoint")
            history = [EpochReport(**dict(epoch)) for epoch in described.history]
        except (InputError, ForeignFileError):
            raise InputError(
                f"“{self.path}” is not a readable checkpoint of this program.", "Start without resuming."
            ) from None
        for name, value in self._config.items():
            if described.config.get(name) != value:
                raise InputError(
                    f"The checkpoint “{self.path}” belongs to {name}={described.config.get(name)!r}, not {value!r}.",
                    "Resume with the same settings, or start without resuming.",
                )
        if described.data != self._data:
            raise InputError(
                f"The checkpoint “{self.path}” belongs to a training run on other bags.",
                "Resume with the same bags, or start without resuming.",
            )
        return {name: torch.from_numpy(array) for name, array in arrays.items()}, history


def _fingerprint(dataset: BagDataset) -> str:
    """sha256 of everything training learns from."""
    digest = hashlib.sha256()
    for array in (dataset.offsets, dataset.candidates, dataset.instances):
        digest.update(repr((array.shape, array.dtype.str)).encode())
        for start in range(0, len(array), _ROWS_AT_ONCE):
            digest.update(np.ascontiguousarray(array[start : start + _ROWS_AT_ONCE]).data)
    return digest.hexdigest()
