"""Compare settings on bags or splits that are not reported; writes benchmarks/results/settings.json.

Birdsong: bags per step and learning rate, with few and with many false positives. Pictures: how to standardise the
pixels, and the learning rate that goes with it, since the scale of the authors' pixels is not known; clipped gradients;
a rate for our own method. Both on bags drawn with another seed. Segments of tissue7 tiles: how to keep small steps from
breaking down; other splits of the tiles. Everything else is as in the comparison. What the file has is not run again.
An hour and a half on one core:

    python scripts/choose_settings.py [--data FOLDER]
"""

import argparse
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from elimipl.benchmark.cells import CROWD, Cell
from elimipl.benchmark.sources import SOURCES, USUAL_FOLDERS, DataFolders, Prepared, Shelf
from elimipl.benchmark.tasks import Task, config_of, run_tasks
from elimipl.training.splits import stratified_splits

ROOT = Path(__file__).resolve().parents[1]

RESULTS = ROOT / "benchmarks" / "results" / "settings.json"
SEED = 1
SEGMENTS = Cell("tissue7-kmeansseg", CROWD, "ELIMIPL")
BATCHES = ({"batch": 32, "lr": 0.2}, {"batch": 32, "lr": 0.32})
COMPARED: tuple[tuple[Cell, int, tuple[dict[str, Any], ...]], ...] = (  # cell, splits, settings
    (SEGMENTS, 5, ({"lr": 0.2, "clip": 0.0}, {"lr": 0.025, "clip": 0.0}, {"lr": 0.2, "clip": 1.0})),
    (Cell("tissue7-sift", CROWD, "CDL-SAM-CN"), 5, ({"lr": 0.1}, {"lr": 0.025}, {"lr": 0.00625})),
    *((Cell("birdsong", r, "ELIMIPL"), 3, BATCHES) for r in (1, 3, 6)),
    (Cell("birdsong", 6, "DEMIPL"), 3, BATCHES),
    (Cell("birdsong", 6, "ELIMIPL"), 1, ({"batch": 8, "lr": 0.05}, {"batch": 8, "lr": 0.08}, {"batch": 1, "lr": 0.01})),
    (Cell("mnist", 2, "MIPLGP"), 1, ({"scaling": "zscore"}, {"scaling": "global"})),
    (Cell("mnist", 2, "ELIMIPL"), 1, ({"scaling": "global", "lr": 0.05},)),
    (Cell("mnist", 2, "ELIMIPL-entropy"), 1, ({"lr": 0.01},)),
    (Cell("fmnist", 1, "ELIMIPL"), 1, ({"scaling": "global", "lr": 0.05},)),
    (
        Cell("fmnist", 2, "ELIMIPL"),
        1,
        (
            {"scaling": "none", "lr": 0.01},
            {"scaling": "none", "lr": 0.05},
            {"scaling": "global", "lr": 0.01},
            {"scaling": "global", "lr": 0.01, "clip": 1.0},
        ),
    ),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder of the raw data (default: data)")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="runs side by side")
    arguments = parser.parse_args()
    folders = (arguments.data, *USUAL_FOLDERS) if arguments.data else USUAL_FOLDERS
    results = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    for task, outcome in run_tasks(_tasks(folders, results), arguments.workers):
        name = task.bags["name"]
        results[name] = outcome.split or {"failed": outcome.failure}
        RESULTS.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        print(name, results[name].get("accuracy", outcome.failure), flush=True)


def _tasks(folders: tuple[Path, ...], done: dict[str, Any]) -> Iterator[Task]:
    for cell, splits, compared in COMPARED:
        left = [(_name(cell, settings, index), settings, index) for settings in compared for index in range(splits)]
        left = [one for one in left if one[0] not in done]
        bags = _bags(cell, folders, splits) if left else None
        for name, settings, index in left:
            assert bags is not None
            yield Task(cell, index, config_of(cell).replace(**settings), *bags.parts(index), {"name": name})


def _name(cell: Cell, settings: dict[str, Any], index: int) -> str:
    described = ", ".join(f"{key} {value}" for key, value in settings.items())
    return f"{cell.name}: {described}, split {index}"


def _bags(cell: Cell, folders: tuple[Path, ...], splits: int) -> Prepared:
    """Bags of another seed; or the same tiles, split by another seed."""
    if cell.data in SOURCES:
        dataset = SOURCES[cell.data].build(DataFolders(folders).of(cell), r=cell.r, seed=SEED)
        return Prepared(dataset, stratified_splits(dataset.labels, splits, seed=SEED))
    dataset = Shelf(DataFolders(folders)).bags_of(cell).dataset
    return Prepared(dataset, stratified_splits(dataset.labels, splits, seed=SEED, groups=dataset.groups), crowd=True)


if __name__ == "__main__":
    main()
