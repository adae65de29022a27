"""The paper's evaluation: ten random 7:3 splits, last epoch, mean ± standard deviation, side by side."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bag_generators.base.errors import InputError
from bag_generators.base.mapped_rows import MappedRows
from bag_generators.base.pool import importable_name, in_processes, number_of_workers
from elimipl.candidates.labels import LabelSpace
from elimipl.config import Config, Settings
from elimipl.datasets.dataset import BagDataset
from elimipl.registries import ATTENTIONS, LOSSES, Attention, Loss, register_attention, register_loss
from elimipl.training import loop
from elimipl.training.splits import Split, stratified_splits

if TYPE_CHECKING:
    from torch import nn

__all__ = ["ProtocolResult", "SplitResult", "evaluate", "stratified_splits"]


@dataclass(frozen=True)
class SplitResult:
    """How one split ended."""

    index: int
    accuracy: float
    """On the test bags, after the last epoch."""
    disambiguation_accuracy: float | None
    seconds: float


@dataclass(frozen=True)
class ProtocolResult:
    """All splits of a protocol, in order, and the wall-clock seconds they took together."""

    splits: tuple[SplitResult, ...]
    seconds: float

    @property
    def accuracies(self) -> tuple[float, ...]:
        """Test accuracy of each split."""
        return tuple(split.accuracy for split in self.splits)

    @property
    def mean(self) -> float:
        """Mean test accuracy."""
        return float(np.mean(self.accuracies))

    @property
    def std(self) -> float:
        """Standard deviation over the splits with ddof 0, as the authors report it."""
        return float(np.std(self.accuracies))

    def __str__(self) -> str:
        return f"{self.mean:.3f}±{self.std:.3f}"


def evaluate(
    dataset: BagDataset,
    config: Settings,
    splits: Sequence[Split],
    *,
    fit: Callable[..., Any] | None = None,
    extractor: nn.Module | None = None,
    workers: int | None = None,
    on_split: Callable[[SplitResult], None] | None = None,
    device: str = "auto",
) -> ProtocolResult:
    """Train and test on every split, split i with seed `config.seed` + i.

    `config` says which method: a `Config` the network, `METHODS[name].config()` any other; a method of others whose
    settings have no `trainer` also needs `METHODS[name].fit`. `extractor` takes the place of the network's, as in
    `elimipl.fit`: every split starts from the weights it has.

    `workers` processes (default: as many as there are cores; 1 stays in this process) each take one split at a time on
    one thread, and share the instances; an extractor, and a loss, attention or method that other processes can't import
    by its name, keep the work in this one. `on_split` hears of each split as it ends. The accuracies don't depend on
    `workers`.
    """
    fit = fit or config.trainer
    if extractor is not None and fit is not loop.fit:
        raise InputError("Only the network has an extractor to replace.", "Leave out the extractor, or give a Config.")
    began = time.perf_counter()
    results = []
    for result in _results(dataset, _Learner(fit, config, device, extractor), splits, workers):
        results.append(result)
        if on_split is not None:
            on_split(result)
    return ProtocolResult(tuple(sorted(results, key=lambda one: one.index)), time.perf_counter() - began)


@dataclass(frozen=True, eq=False)
class _Learner:
    """How every split is learned."""

    fit: Callable[..., Any]
    config: Settings
    device: str
    extractor: nn.Module | None = None

    @property
    def registered(self) -> tuple[Loss | None, Attention | None]:
        """The registered loss and attention that the settings name."""
        if not isinstance(self.config, Config):
            return None, None
        return LOSSES.get(self.config.loss), ATTENTIONS.get(self.config.attention)

    @property
    def stays_here(self) -> bool:
        """Whether other processes could not do it."""
        functions = [one for one in (self.fit, *self.registered) if one is not None]
        return self.extractor is not None or any(importable_name(one) is None for one in functions)

    def run(self, dataset: BagDataset, split: Split, index: int) -> SplitResult:
        """Train and test on one split."""
        began = time.perf_counter()
        train, test = split
        own: dict[str, Any] = {} if self.extractor is None else {"extractor": self.extractor}
        config = self.config.replace(seed=self.config.seed + index)
        fitted = self.fit(dataset.subset(train), config, device=self.device, **own)
        accuracy = fitted.predict(dataset.subset(test)).accuracy(dataset.labels[test])
        disambiguated = fitted.history[-1].disambiguation_accuracy if fitted.history else None
        return SplitResult(
            index, float("nan") if accuracy is None else accuracy, disambiguated, time.perf_counter() - began
        )


def _results(
    dataset: BagDataset, learn: _Learner, splits: Sequence[Split], workers: int | None
) -> Iterator[SplitResult]:
    """The results of the splits, as they come."""
    count = number_of_workers(workers, len(splits))
    if count == 1 or learn.stays_here:
        for index, split in enumerate(splits):
            yield learn.run(dataset, split, index)
        return
    with _shared_file(dataset) as place:
        labelled = dataset.offsets, dataset.candidates, dataset.labels, dataset.label_space
        shared = place, labelled, learn, learn.registered, splits
        for _, result in in_processes(_run_shared_split, range(len(splits)), count, shared=shared, in_order=False):
            yield result


@contextmanager
def _shared_file(dataset: BagDataset) -> Iterator[Path | MappedRows]:
    """The instances in a temporary file: mapped into memory, all workers share one copy, and none is sent any.

    Those that lie in files already stay there.
    """
    if isinstance(dataset.instances, MappedRows):
        yield dataset.instances
        return
    with tempfile.TemporaryDirectory(prefix="elimipl-") as folder:
        path = Path(folder) / "instances.npy"
        try:
            np.save(path, dataset.instances)
        except OSError as error:
            raise InputError(
                f"There is no room to share the bags between processes ({error.strerror}).",
                "Free space for temporary files, or use one worker.",
            ) from None
        yield path


def _run_shared_split(
    place: Path | MappedRows,
    labelled: tuple[np.ndarray, np.ndarray, np.ndarray, LabelSpace],
    learn: _Learner,
    registered: tuple[Loss | None, Attention | None],
    splits: Sequence[Split],
    index: int,
) -> SplitResult:
    if isinstance(learn.config, Config):
        loss, attention = registered
        if loss is not None and learn.config.loss not in LOSSES:
            register_loss(learn.config.loss, loss)
        if attention is not None and learn.config.attention not in ATTENTIONS:
            register_attention(learn.config.attention, attention)
    offsets, candidates, labels, label_space = labelled
    instances = place if isinstance(place, MappedRows) else _mapped(place)
    dataset = BagDataset(instances, offsets, candidates, labels, label_space)
    return learn.run(dataset, splits[index], index)


@lru_cache(maxsize=1)
def _mapped(path: Path) -> np.ndarray:
    """The instances that `_shared_file` wrote, (N, d) float32, read from the file as they are needed."""
    instances: np.ndarray = np.load(path, mmap_mode="r")
    return instances
