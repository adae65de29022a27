"""What many workers would take, by what one and two took: a model with few assumptions, each with a name.

Work that is done picture by picture shares out; what all workers share (the disk, the coordinator, the network between
training processes) does not. The slowest of them sets the pace.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

DISK = 500e6  # bytes a second that all workers read together from shared storage
COORDINATOR = 0.0005  # seconds of the one process that hands out and collects, for each picture
LATENCY = 50e-6  # seconds of one message between two training processes
NETWORK = 1.25e9  # bytes a second between machines (10 Gbit/s)
SLIDE_TILES = 6000  # tiles of tissue of a slide of 20,000 × 15,000 px
ASSUMED = (
    f"storage that gives all workers {DISK / 1e6:.0f} MB/s together, a coordinator that needs "
    f"{COORDINATOR * 1e3:g} ms for each picture, {LATENCY * 1e6:.0f} µs and {NETWORK * 8 / 1e9:.0f} Gbit/s between "
    f"training processes, {SLIDE_TILES:,} tiles of tissue a slide"
)


@dataclass(frozen=True)
class Estimate:
    """Seconds, and what sets the pace."""

    seconds: float
    limited_by: str


def pictures(count: int, seconds_each: float, bytes_each: float, workers: int, efficiency: float) -> Estimate:
    """`count` pictures of which one worker takes `seconds_each`; `efficiency` is that of two workers, measured."""
    own = efficiency if workers > 1 else 1.0
    limits = {
        "the workers": count * seconds_each / (workers * own),
        "the disk": count * bytes_each / DISK,
        "the coordinator": count * COORDINATOR if workers > 1 else 0.0,
    }
    slowest = max(limits, key=lambda name: limits[name])
    return Estimate(limits[slowest], slowest)


def epoch(bags: int, batch: int, seconds_a_bag: float, seconds_a_step: float, parameters: int, n: int) -> Estimate:
    """One epoch: every step has a part that shares out, one that does not, and sums gradients over `n` processes."""
    steps = math.ceil(bags / batch)
    compute = batch * seconds_a_bag / n
    messages = 0.0
    if n > 1:
        rounds = 2 * math.ceil(math.log2(n))
        messages = 2 * rounds * LATENCY + 2 * parameters * 4 * (n - 1) / n / NETWORK
    limits = {"the bags": compute, "a step's fixed cost": seconds_a_step, "the network": messages}
    return Estimate(steps * sum(limits.values()), max(limits, key=lambda name: limits[name]))
