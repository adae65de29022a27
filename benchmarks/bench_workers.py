"""What a tile and a slide cost with one worker and with two: `python benchmarks/bench_workers.py`.

Bags of drawn tiles by every generator, and the map of a drawn slide. Workers are started before the clock. Beside the
time stands that of the processor, which other work on the machine changes little. Writes `results/workers.json`, from
which `scripts/update_scale.py` writes the numbers of docs/scale.md.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import tempfile
import time
from pathlib import Path
from typing import Any

import cv2

from bag_generators import GENERATORS, generate_many
from bag_generators.slide import open_slide
from bag_generators.tissue.phantom import PHANTOM_KINDS, draw
from elimipl.predictor import Predictor
from elimipl.slides import map_slide
from scripts.phantom_slide import blocks

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "workers.json"
WORKERS = (1, 2)
WARM = 8  # tiles before the clock, for each worker


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tiles", type=int, default=200)
    parser.add_argument("--columns", type=int, default=24, help="of the slide, in tiles")
    parser.add_argument("--rows", type=int, default=18)
    args = parser.parse_args()
    report: dict[str, Any] = {"cores": os.cpu_count(), "load_average": round(os.getloadavg()[0], 1)}
    with tempfile.TemporaryDirectory() as folder:
        tiles = drawn(Path(folder), args.tiles + WARM * max(WORKERS))
        report["tiles"] = {name: {str(n): bags(name, tiles, n) for n in WORKERS} for name in GENERATORS}
        report["slide"] = {str(n): slide(Path(folder), args.columns, args.rows, n) for n in WORKERS}
    print(json.dumps(report, indent=2))
    RESULTS.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


def drawn(folder: Path, count: int) -> list[Path]:
    """Tiles as uncompressed TIFF, like those of NCT-CRC-HE-100K."""
    originals = [draw(kind, seed).pixels for kind in PHANTOM_KINDS for seed in range(3)]
    paths = []
    for i in range(count):
        paths.append(folder / f"{i}.tif")
        cv2.imwrite(str(paths[-1]), originals[i % len(originals)], [cv2.IMWRITE_TIFF_COMPRESSION, 1])
    return paths


def bags(generator: str, tiles: list[Path], workers: int) -> dict[str, float]:
    """Seconds a tile once the workers are warm, and processor seconds a tile, start and all."""
    warm, used = WARM * workers, _processor()
    began = time.perf_counter()
    for i, _ in enumerate(generate_many(generator, tiles, workers=workers), start=1):
        if i == warm:
            began = time.perf_counter()
    seconds = time.perf_counter() - began
    return {
        "seconds_a_tile": round(seconds / (len(tiles) - warm), 6),
        "processor_seconds_a_tile": round((_processor() - used) / len(tiles), 6),
    }


def slide(folder: Path, columns: int, rows: int, workers: int) -> dict[str, float]:
    """Seconds and processor seconds of a whole map, start and all, for each of its tiles."""
    path = folder / "slide.tif"
    if not path.exists():
        blocks(columns, rows, tuple(PHANTOM_KINDS)).write(path)
    predictor = Predictor.load("tissue7-deep-elimipl")
    began, used = time.perf_counter(), _processor()
    made = map_slide(open_slide(path), predictor, folder / f"map{workers}", workers=workers)
    seconds, used = time.perf_counter() - began, _processor() - used
    tiles = int(made.grid.is_tissue.sum())
    return {
        "tiles": tiles,
        "seconds_a_tile": round(seconds / tiles, 5),
        "processor_seconds_a_tile": round(used / tiles, 5),
    }


def _processor() -> float:
    both = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(used.ru_utime + used.ru_stime for used in both)


if __name__ == "__main__":
    main()
