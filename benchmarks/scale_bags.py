"""Bags of 25 instances of 128 numbers, as many as asked for, through a folder of shards, piece by piece."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from elimipl.dataset import BagDataset, save_pieces
from elimipl.labels import TISSUE7

INSTANCES, FEATURES = 25, 128
_A_PIECE = 1000  # bags
_A_BATCH = 128  # bags


def made_pieces(bags: int) -> Iterator[BagDataset]:
    """Seeded normal numbers with a known class each, a thousand bags at a time."""
    for start in range(0, bags, _A_PIECE):
        count = min(_A_PIECE, bags - start)
        rng = np.random.default_rng(start)
        labels = rng.integers(0, len(TISSUE7), count)
        instances = rng.standard_normal((count * INSTANCES, FEATURES), np.float32)
        instances[::INSTANCES, 0] += labels
        yield BagDataset(
            instances,
            np.arange(count + 1) * INSTANCES,
            labels[:, None] == np.arange(len(TISSUE7)),
            labels,
            TISSUE7,
            generator="made",
            names=tuple(f"made/{i:07}.png" for i in range(start, start + count)),
        )


def write_and_read(folder: Path, bags: int) -> dict[str, float]:
    """Seconds to write the bags, to open them, to read all in order, and to read all in batches of a random order."""
    seconds = {}
    began = time.perf_counter()
    save_pieces(folder, made_pieces(bags))
    seconds["write"] = time.perf_counter() - began
    began = time.perf_counter()
    dataset = BagDataset.load(folder)
    seconds["open"] = time.perf_counter() - began
    began = time.perf_counter()
    rows = _A_PIECE * INSTANCES
    for start in range(0, len(dataset.instances), rows):
        dataset.instances[start : start + rows].sum(dtype=np.float64)
    seconds["in order"] = time.perf_counter() - began
    began = time.perf_counter()
    order = np.random.default_rng(0).permutation(bags)
    for start in range(0, bags, _A_BATCH):
        dataset.gather(order[start : start + _A_BATCH]).sum(dtype=np.float64)
    seconds["shuffled"] = time.perf_counter() - began
    return seconds
