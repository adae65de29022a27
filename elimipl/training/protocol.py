"""The paper's evaluation: ten random 7:3 splits, last epoch, mean ± standard deviation, side by side."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass

import numpy as np

from elimipl.config import Config
from elimipl.dataset import BagDataset
from elimipl.training.loop import fit
from elimipl.training.splits import Split, stratified_splits

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
    config: Config,
    splits: Sequence[Split],
    *,
    workers: int | None = None,
    on_split: Callable[[SplitResult], None] | None = None,
    done: Mapping[int, SplitResult] | None = None,
    device: str = "auto",
) -> ProtocolResult:
    """Train and test on every split, split i with seed `config.seed` + i.

    `workers` processes (default: one a core; 1 stays in this process) each take one split at a time on one
    thread. `on_split` hears of each split as it ends. To take up an interrupted protocol again, give the
    splits that are `done` by index; they are not run again. The accuracies don't depend on `workers`.
    """
    began = time.perf_counter()
    results = dict(done or {})
    todo = [index for index in range(len(splits)) if index not in results]
    for result in _results(dataset, config, splits, todo, workers, device):
        results[result.index] = result
        if on_split is not None:
            on_split(result)
    ordered = tuple(results[index] for index in range(len(splits)))
    return ProtocolResult(ordered, time.perf_counter() - began)


def _results(
    dataset: BagDataset,
    config: Config,
    splits: Sequence[Split],
    todo: Sequence[int],
    workers: int | None,
    device: str,
) -> Iterator[SplitResult]:
    """The results of the splits `todo`, as they come."""
    count = min(workers or os.cpu_count() or 1, len(todo))
    if count <= 1:
        for index in todo:
            yield _run_split(dataset, config, splits[index], index, device)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(count, context, _receive, (dataset, config, device)) as pool:
        for future in as_completed([pool.submit(_run_received, splits[index], index) for index in todo]):
            yield future.result()


def _run_split(dataset: BagDataset, config: Config, split: Split, index: int, device: str) -> SplitResult:
    began = time.perf_counter()
    train, test = split
    fitted = fit(dataset.subset(train), config.replace(seed=config.seed + index), device=device)
    accuracy = fitted.predict(dataset.subset(test)).accuracy(dataset.labels[test])
    disambiguated = fitted.history[-1].disambiguation_accuracy
    return SplitResult(
        index, float("nan") if accuracy is None else accuracy, disambiguated, time.perf_counter() - began
    )


_received: tuple[BagDataset, Config, str]
"""What a worker process works on, sent once when it starts."""


def _receive(dataset: BagDataset, config: Config, device: str) -> None:
    global _received
    _received = dataset, config, device


def _run_received(split: Split, index: int) -> SplitResult:
    dataset, config, device = _received
    return _run_split(dataset, config, split, index, device)
