"""Bags of tiles that are in memory, timed in a process of their own: what a map can't be faster than."""

from __future__ import annotations

import time
from typing import Any

from bag_generators import TissueImage, generate
from bag_generators.tissue.phantom import PHANTOM_KINDS, draw


def bags_alone(generator: str, params: dict[str, Any], tiles: int) -> tuple[float, float]:
    """Seconds, and seconds of processor time, for the bags of so many tiles, after one to warm up."""
    pictures = [TissueImage.from_array(draw(kind, 0).pixels) for kind in PHANTOM_KINDS]
    generate(generator, pictures[0], **params)
    begun, used = time.perf_counter(), time.process_time()
    for number in range(tiles):
        generate(generator, pictures[number % len(pictures)], **params)
    return time.perf_counter() - begun, time.process_time() - used
