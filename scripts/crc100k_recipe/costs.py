"""What the recipe will take: by what a miniature of the same layout took, tile by tile, and the server's lists."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bag_generators.errors import InputError
from elimipl.data.fetch import ArchiveSize
from scripts.crc100k_recipe.steps import TEST, TRAINING, Journal, Recipe

RESULTS = Path(__file__).resolve().parents[2] / "benchmarks" / "results" / "crc100k.json"
TRAINING_RESULTS = RESULTS.with_name("training_scale.json")
BYTES_A_SECOND = 10e6  # of a download, assumed
SPARE = 1.1
BENCHMARK_BAG = 25 * 128 * 4
"""Bytes of a bag of the training benchmark."""


def costs_of(recipe: Recipe, journal: Journal, sizes: Mapping[str, ArchiveSize]) -> dict[str, Any]:
    """Processor seconds and bytes of one more tile: the steps of the two sets differ in nothing but their tiles.

    Starting processes is the same for both and falls away. A bag in an epoch is taken from the training benchmark,
    whose bags have 25 × 128 numbers; larger ones take as many times longer as they have more.
    """
    tiles = {name: size.tiles for name, size in sizes.items()}
    more = tiles[TRAINING] - tiles[TEST]

    def of_a_tile(step: str) -> float:
        spent = [journal.steps[f"{step} {name}"]["processor_seconds"] for name in (TRAINING, TEST)]
        return round(max(spent[0] - spent[1], 0.0) / more, 6)

    both = sum(tiles.values())
    trained = json.loads(TRAINING_RESULTS.read_text(encoding="utf-8"))
    return {
        "tiles": tiles,
        "unpack_seconds_a_tile": of_a_tile("fetch"),
        "bags_seconds_a_tile": {one: of_a_tile(f"bags {one}") for one in recipe.generators},
        "bags_bytes_a_tile": {
            one: round(sum(_bytes(recipe.bags(name, one)) for name in tiles) / both) for one in recipe.generators
        },
        "train_seconds_a_bag_and_epoch": trained["processes"]["1"] / trained["settings"]["processes_on"],
    }


def expected(recipe: Recipe, sizes: Mapping[str, ArchiveSize], costs: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Hours and gigabytes of each kind of step, the work on tiles spread over the workers there are."""
    tiles = sum(size.tiles for size in sizes.values())
    bags, trained = recipe.generators, sizes[TRAINING].tiles
    archives, unpacked = (
        sum(getattr(size, f"{kind}_bytes") for size in sizes.values()) for kind in ("archive", "tile")
    )
    seconds_of_bags = sum(costs["bags_seconds_a_tile"][one] for one in bags) * tiles / recipe.workers
    times = sum(max(1.0, costs["bags_bytes_a_tile"][one] / BENCHMARK_BAG) for one in bags)
    seconds_of_training = costs["train_seconds_a_bag_and_epoch"] * times * trained * recipe.epochs
    bytes_of_bags = sum(costs["bags_bytes_a_tile"][one] for one in bags) * tiles
    table = {
        "fetch and check": (archives / BYTES_A_SECOND, archives),
        "unpack": (costs["unpack_seconds_a_tile"] * tiles, unpacked),
        "bags": (seconds_of_bags, bytes_of_bags),
        "train and measure": (seconds_of_training / recipe.processes, 0.0),
    }
    return {name: {"hours": seconds / 3600, "gb": size / 1e9} for name, (seconds, size) in table.items()}


def announce(recipe: Recipe, sizes: Mapping[str, ArchiveSize]) -> None:
    """Say what is about to be taken in time and space, and refuse where the disk is too small for what is missing."""
    tiles = ", ".join(f"{size.tiles:,} tiles of {name}" for name, size in sizes.items())
    print(f"{tiles}; {len(recipe.generators)} generators, {recipe.epochs} epochs, {recipe.workers} workers.")
    table = expected(recipe, sizes, json.loads(RESULTS.read_text(encoding="utf-8"))["costs"])
    for name, cost in table.items():
        print(f"  {name:<20}{cost['hours']:>8.1f} h{cost['gb']:>8.1f} GB")
    hours, needed = (sum(cost[kind] for cost in table.values()) for kind in ("hours", "gb"))
    print(f"  {'together':<20}{hours:>8.1f} h{needed:>8.1f} GB, by what a miniature took (10 MB/s from the server).")
    recipe.folder.mkdir(parents=True, exist_ok=True)
    missing = SPARE * needed - _bytes(recipe.folder) / 1e9
    free = shutil.disk_usage(recipe.folder).free / 1e9
    if missing > free:
        raise InputError(
            f"About {missing:.1f} GB are still needed, but only {free:.1f} GB are free in “{recipe.folder}”.",
            "Make room, or choose another folder: make crc100k CRC100K=FOLDER.",
        )


def _bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
