"""Compare settings for bags of pictures; writes benchmarks/results/picture_settings.json.

How to standardise the pixels, and the learning rate that goes with it: the scale of the authors' pixels is not known.
One split each of MNIST-MIPL and FMNIST-MIPL, whose bags, candidate sets and split are drawn with another seed than the
reported ones. Everything else is as in the comparison. What the file has is not run again. Half an hour of a core:

    python scripts/choose_picture_settings.py [--data FOLDER]
"""

import argparse
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from elimipl.benchmark.cells import Cell  # noqa: E402
from elimipl.benchmark.rebuilt import SOURCES, find_raw  # noqa: E402
from elimipl.benchmark.session import config_of  # noqa: E402
from elimipl.benchmark.sources import USUAL_PLACES  # noqa: E402
from elimipl.benchmark.tasks import Task, run_tasks  # noqa: E402
from elimipl.splits import stratified_splits  # noqa: E402

RESULTS = ROOT / "benchmarks" / "results" / "picture_settings.json"
SEED = 1
COMPARED: tuple[tuple[Cell, dict[str, Any]], ...] = (
    (Cell("mnist", 2, "MIPLGP"), {"scaling": "zscore"}),
    (Cell("mnist", 2, "MIPLGP"), {"scaling": "global"}),
    (Cell("mnist", 2, "ELIMIPL"), {"scaling": "zscore", "lr": 0.05}),
    (Cell("mnist", 2, "ELIMIPL"), {"scaling": "global", "lr": 0.05}),
    (Cell("fmnist", 1, "ELIMIPL"), {"scaling": "global", "lr": 0.01}),
    (Cell("fmnist", 1, "ELIMIPL"), {"scaling": "global", "lr": 0.05}),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder of the raw data (left out: data)")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="runs side by side")
    arguments = parser.parse_args()
    folders = (arguments.data, *USUAL_PLACES) if arguments.data else USUAL_PLACES
    results = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    for task, outcome in run_tasks(_tasks(folders, results), arguments.workers):
        name = task.bags["name"]
        results[name] = outcome.split or {"failed": outcome.failure}
        RESULTS.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        print(name, results[name].get("accuracy", outcome.failure), flush=True)


def _tasks(folders: tuple[Path, ...], done: dict[str, Any]) -> Iterator[Task]:
    for cell, settings in COMPARED:
        name = f"{cell.name}: {', '.join(f'{key} {value}' for key, value in settings.items())}"
        if "accuracy" not in done.get(name, {}):
            bags = SOURCES[cell.data].build(find_raw(cell.data, folders), r=cell.r, seed=SEED)
            train, test = stratified_splits(bags.labels, 1, seed=SEED)[0]
            config = config_of(cell).replace(**settings)
            yield Task(cell, 0, config, bags.subset(train), bags.subset(test), {"name": name})


if __name__ == "__main__":
    main()
