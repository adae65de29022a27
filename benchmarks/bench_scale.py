"""Time and memory from a thousand to a hundred thousand tiles and bags: `python benchmarks/bench_scale.py`.

Tiles: `python -m elimipl bags` over hard links of real tiles (of drawn ones where there are none), with a cheap
generator, so that everything around it is what is measured: in one process, in the pool, and on a local Dask cluster.
The starting of processes is part of the time. Bags: written as a folder of shards, opened, read in order and shuffled.
Time must grow no faster than the number, and memory must not grow: a tile is a name, a key and a place in the index.

`--tiles 1000 --bags 1000` is the smallest; `--bags 1000000` writes 13 GB. Prints a table, writes `results/scale.json`.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import cv2

from bag_generators.formats import extensions
from bag_generators.pool import in_processes
from bag_generators.tissue.phantom import PHANTOM_KINDS, draw
from benchmarks.peak_memory import PeakMemory
from benchmarks.scale_bags import write_and_read

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "scale.json"
REAL = ROOT.parent / "shared" / "data" / "tissue7" / "train"
SIZES = (1_000, 10_000, 100_000)
WAYS = {"one process": ["--workers", "1"], "pool": [], "Dask local": ["--scheduler", "local"]}
_STEEPEST = 1.15
"""Times the time for each at the size before, at most: no faster than linear."""
_MOST_FOR_ONE = 1000
"""Bytes of memory for another tile or bag, at most: its name, key and place. A tile has 150,000 bytes of pixels,
a bag of these 12,800."""
_SHORTEST = 1.0
"""Seconds, below which a time says nothing about growth."""
_DRAWN = 30  # different tiles of each kind, where there are no real ones


def originals(folder: Path) -> list[tuple[str, Path]]:
    """Tiles to link to, each with its class: real ones, copied here so that links can be made, or drawn ones."""
    found = sorted(path for path in REAL.rglob("*") if path.suffix.lower() in extensions()) if REAL.is_dir() else []
    tiles = []
    for number, path in enumerate(found):
        copied = folder / f"{number}{path.suffix}"
        shutil.copyfile(path, copied)
        tiles.append((path.parent.name, copied))
    for kind in () if tiles else PHANTOM_KINDS:
        for number in range(_DRAWN):
            drawn = folder / f"{kind}{number}.png"
            cv2.imwrite(str(drawn), cv2.cvtColor(draw(kind, number, 224, 0.9).pixels, cv2.COLOR_RGB2BGR))
            tiles.append((kind, drawn))
    return tiles


def link_tiles(folder: Path, tiles: list[tuple[str, Path]], count: int) -> None:
    """A folder of class folders with so many names for the same few files."""
    for kind in {kind for kind, _ in tiles}:
        (folder / kind).mkdir(parents=True)
    for number in range(count):
        kind, tile = tiles[number % len(tiles)]
        os.link(tile, folder / kind / f"{number:07}{tile.suffix}")


def make_bags(folder: Path, out: Path, generator: str, how: list[str]) -> dict[str, Any]:
    """Seconds and memory of the command, from its start to its end."""
    command = [sys.executable, "-m", "elimipl", "bags", folder, "--generator", generator, "--out", out, "--quiet", *how]
    began = time.perf_counter()
    with (
        subprocess.Popen(
            [*map(str, command)], cwd=ROOT, stdout=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": str(ROOT)}
        ) as process,
        PeakMemory(process.pid) as memory,
    ):
        code = process.wait()
    if code:
        raise SystemExit(f"the command ended with exit code {code}")
    return {"seconds": time.perf_counter() - began, "memory": memory.highest, "own": memory.own}


def measure_tiles(sizes: list[int], generator: str, scratch: Path) -> list[dict[str, Any]]:
    """One row for each size and way, and one for running it again when nothing is missing."""
    (scratch / "originals").mkdir()
    tiles = originals(scratch / "originals")
    rows = []
    for count in sizes:
        folder = scratch / f"tiles{count}"
        link_tiles(folder, tiles, count)
        contents = []
        for way, how in WAYS.items():
            out = scratch / "bags.shards"
            rows.append({"what": "tiles", "way": way, "count": count, **make_bags(folder, out, generator, how)})
            _say(rows[-1])
            contents.append((out / "index.safetensors").read_bytes())
            if way == "pool":
                rows.append({"what": "tiles", "way": "again", "count": count, **make_bags(folder, out, generator, how)})
                _say(rows[-1])
            shutil.rmtree(out)
        if len(set(contents)) != 1:
            raise SystemExit("the three ways gave different data sets")
        shutil.rmtree(folder)
    return rows


def measure_bags(sizes: list[int], scratch: Path) -> list[dict[str, Any]]:
    """One row for each size and step; every size in a process of its own."""
    rows = []
    for count in sizes:
        folder = scratch / "made.shards"
        with PeakMemory(os.getpid()) as memory:
            ((_, seconds),) = islice(in_processes(write_and_read, [count], 1, shared=(folder,)), 1)
        for step, taken in seconds.items():
            about = {"seconds": taken, "memory": memory.highest, "own": memory.own}
            rows.append({"what": "bags", "way": step, "count": count, **about})
            _say(rows[-1])
        shutil.rmtree(folder)
    return rows


def verdicts(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """For each way: how the time of one grows from a size to the next, and memory with each from first to last.

    Nothing is said of time (None) where fewer than two sizes took long enough.
    """
    found = []
    for what, way in dict.fromkeys((row["what"], row["way"]) for row in rows):
        mine = [row for row in rows if (row["what"], row["way"]) == (what, way)]
        each = [row["seconds"] / row["count"] for row in mine if row["seconds"] >= _SHORTEST]
        steepest = max((round(after / before, 3) for before, after in pairwise(each)), default=None)
        first, last = mine[0], mine[-1]
        for_one = (last["own"] - first["own"]) / max(last["count"] - first["count"], 1)
        about = {"what": what, "way": way, "time_of_one_grows": steepest, "bytes_for_one": round(for_one)}
        found.append({**about, "linear": steepest is None or steepest <= _STEEPEST, "flat": for_one <= _MOST_FOR_ONE})
    return found


def _say(row: dict[str, Any]) -> None:
    speed = row["count"] / row["seconds"]
    print(
        f"{row['count']:>9,} {row['what']:<6}{row['way']:<12}{row['seconds']:>9.1f} s{speed:>11,.0f} a second"
        f"{row['memory'] / 1e6:>9,.0f} MB, {row['own'] / 1e6:,.0f} without files",
        flush=True,
    )


def main() -> None:
    """Measure, compare, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tiles", type=int, nargs="*", default=SIZES, metavar="N")
    parser.add_argument("--bags", type=int, nargs="*", default=SIZES, metavar="N")
    parser.add_argument("--generator", default="row")
    parser.add_argument("--scratch", type=Path, help="folder for the data (default: that of temporary files)")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=args.scratch) as scratch:
        rows = measure_tiles(list(args.tiles), args.generator, Path(scratch)) + measure_bags(
            list(args.bags), Path(scratch)
        )
    for count in args.tiles:
        taken = {row["way"]: row["seconds"] for row in rows if row["what"] == "tiles" and row["count"] == count}
        pool = taken["pool"]
        ratios = ", ".join(f"{way} {taken[way] / pool:.2f}" for way in WAYS)
        print(f"{count:>9,} tiles, times the pool's time: {ratios}")
    found = verdicts(rows)
    for one in found:
        print(
            f"{one['what']:<6}{one['way']:<12} time of one ×{one['time_of_one_grows']} "
            f"({'linear' if one['linear'] else 'NOT LINEAR'}), {one['bytes_for_one']} bytes for another "
            f"({'flat' if one['flat'] else 'NOT FLAT'})"
        )
    machine = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
    tiles = "real tiles" if REAL.is_dir() else "drawn tiles"
    content = {"machine": machine, "generator": args.generator, "tiles": tiles, "rows": rows, "growth": found}
    RESULTS.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
