"""How fast a slide is mapped, against its encoder alone in the same run: `python benchmarks/bench_slides.py`.

The encoder's own speed is measured on tiles that are in memory, in as many processes as the map has, before and
after the map. The map is reading, finding tissue, bags, fields and files. Memory is that of all processes together
(PSS), the highest seen. `--columns 179 --rows 134` is a slide of four times the area.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from bag_generators import TissueImage, generate
from bag_generators.base.pool import in_processes
from bag_generators.slide import open_slide
from bag_generators.tissue.phantom import PHANTOM_KINDS, draw
from benchmarks.measuring import MACHINE, ROOT, earlier, peak_memory, write
from elimipl.answers.predictor import Predictor
from elimipl.cards.files import card_paths
from elimipl.slides import map_slide
from elimipl.slides.exports import write_map
from tests.support.phantom_slide import CELL


def bags_alone(generator: str, params: dict[str, Any], tiles: int) -> tuple[float, float]:
    """Seconds, and seconds of processor time, for the bags of so many tiles, after one to warm up."""
    pictures = [TissueImage.from_array(draw(kind, 0).pixels) for kind in PHANTOM_KINDS]
    generate(generator, pictures[0], **params)
    begun, used = time.perf_counter(), time.process_time()
    for number in range(tiles):
        generate(generator, pictures[number % len(pictures)], **params)
    return time.perf_counter() - begun, time.process_time() - used


def encoder_speed(predictor: Predictor, workers: int, tiles: int) -> tuple[float, float]:
    """Tiles per second, and per second of processor time, of the generator alone with all processes at work."""
    card = predictor.card
    shared = (card.generator, dict(card.generator_params))
    taken = [seconds for _, seconds in in_processes(bags_alone, [tiles] * workers, workers, shared=shared)]
    wall, processor = np.mean(taken, axis=0)
    return workers * tiles / float(wall), tiles / float(processor)


def processor_seconds() -> float:
    """Of this process and those that it has waited for."""
    return sum(
        used.ru_utime + used.ru_stime
        for used in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


def main() -> None:
    """Draw a slide, map it and compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--columns", type=int, default=90, help="tiles across (90 × 67 is 20,160 × 15,008 px)")
    parser.add_argument("--rows", type=int, default=67)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--model", help="default: the first that ships of the generator “deep”")
    parser.add_argument("--encoder-tiles", type=int, default=300, help="tiles for the encoder's own speed, each time")
    args = parser.parse_args()
    model = args.model or next((one for one in card_paths() if "-deep-" in one), "tissue7-sbn-elimipl")
    predictor = Predictor.load(model)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "slide.tif"
        # Elsewhere: what drawing leaves behind in a process is no memory of the map.
        drawing = [sys.executable, "-m", "tests.support.phantom_slide", str(path)]
        subprocess.run([*drawing, f"--columns={args.columns}", f"--rows={args.rows}"], cwd=ROOT, check=True)
        before = encoder_speed(predictor, args.workers, args.encoder_tiles)
        with peak_memory(os.getpid()) as memory:
            begun, used = time.perf_counter(), processor_seconds()
            opened = open_slide(path)
            made = map_slide(opened, predictor, Path(folder) / "map", workers=args.workers)
            write_map(made, opened, Path(folder) / "map")
            seconds, used = time.perf_counter() - begun, processor_seconds() - used
        after = encoder_speed(predictor, args.workers, args.encoder_tiles)
    tiles = int(made.grid.is_tissue.sum())
    row = {
        "model": model,
        "pixels": [opened.width, opened.height],
        "tiles": tiles,
        "workers": args.workers,
        "seconds": round(seconds, 1),
        "tiles_per_second": round(tiles / seconds, 2),
        "encoder_tiles_per_second": [round(before[0], 2), round(after[0], 2)],
        "ratio": round(tiles / seconds / ((before[0] + after[0]) / 2), 3),
        "ratio_by_processor_time": round(tiles / used / ((before[1] + after[1]) / 2), 3),
        "memory_mb": round(memory.highest / 1e6),
        "cell": CELL,
        "wanted": {"ratio": 0.8, "seconds": 300, "memory_mb": 1500},
        "machine": MACHINE,
    }
    write("slides", earlier("slides") | {f"{opened.width}×{opened.height}": row})


if __name__ == "__main__":
    from benchmarks import bench_slides  # by its name, under which other processes find its functions

    bench_slides.main()
