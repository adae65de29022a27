"""How much the hand-written steps of `elimipl.training.steps` save over plain autograd, at three sizes of bags.

Both ways train the same bags with the same settings and seed, and drop out the same numbers. The processor time of the
quickest of a few epochs counts, so that other work on the machine matters little.
"""

from __future__ import annotations

import os
import time
from itertools import pairwise
from typing import Any

import numpy as np

from benchmarks.crc_scale import made_bags
from elimipl import BagDataset, Config, LabelSpace, fit

HIDDEN, EPOCHS = 512, 4


def measure(steps: int) -> dict[str, Any]:
    """Milliseconds of processor time a step, both ways, and how many times faster the fast way is."""
    return {
        "steps_timed": steps,
        "times_are": f"processor time a step in the quickest of {EPOCHS - 1} epochs, after one to warm up",
        "load_average": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None,
        "sizes": {
            "paper": _compared(made_bags().subset(range(64 * steps)), 64, "bags of 3..6 × 6, 64 a step"),
            "large_bags": _compared(large_bags(8 * steps, 9), 8, "bags of 1,000 × 9, 8 a step"),
            "large_wide_bags": _compared(large_bags(8 * steps, 128), 8, "bags of 1,000 × 128, 8 a step"),
        },
    }


def large_bags(count: int, dim: int, seed: int = 0) -> BagDataset:
    """Bags of 1,000 instances, seven classes."""
    rng = np.random.default_rng(seed)
    labels = np.arange(count) % 7
    bags = [rng.normal(0.02 * label, 1, (1000, dim)).astype(np.float32) for label in labels]
    return BagDataset.from_bags(bags, LabelSpace.of("ABCDEFG"), labels)


def _compared(dataset: BagDataset, batch: int, described: str) -> dict[str, Any]:
    steps = -(-len(dataset) // batch)
    config = Config.preset("default", hidden=HIDDEN, epochs=EPOCHS, batch=batch)
    fast, plain = (_quickest_epoch(dataset, config, way) / steps for way in (False, True))
    return {
        "bags": described,
        "fast_ms_a_step": round(1000 * fast, 2),
        "plain_ms_a_step": round(1000 * plain, 2),
        "times_as_fast": round(plain / fast, 2),
    }


def _quickest_epoch(dataset: BagDataset, config: Config, plain: bool) -> float:
    ends: list[float] = []
    fit(dataset, config, plain=plain, on_epoch=lambda _: ends.append(time.process_time()), device="cpu")
    return min(after - before for before, after in pairwise(ends))
