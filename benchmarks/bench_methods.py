"""What every method costs beside ELIMIPL, and how cost grows with the bags: `python benchmarks/bench_methods.py`.

Made-up bags of the size of CRC-MIPL-KMeansSeg. First one 7:3 split of 500 bags for every method, in
times of ELIMIPL's processor time in the same run. Then 500 to 7,000 bags for one method of each kind: time, memory
above what the process held before, and the exponent of the growth. Every split has a process and a thread of its own;
networks have the settings of the tissue tables, the others those of their papers. Prints two tables, writes
`results/methods.json`. About eight minutes; `--quick` takes one and writes nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from benchmarks.bench_training import made_bags
from elimipl.benchmark.cells import Cell
from elimipl.benchmark.tasks import Task, config_of, run_tasks
from elimipl.dataset import BagDataset
from elimipl.methods import METHODS
from elimipl.training.splits import stratified_splits

RESULTS = Path(__file__).resolve().parent / "results" / "methods.json"
SIZES = (500, 1000, 2000, 3500, 7000)
GROWING = ("ELIMIPL", "DEMIPL", "MIPLGP", "PRODEN-Mean", "RC-Mean", "LWS-Mean", "PL-AGGD-Mean")
QUICK_SIZES, QUICK = (500, 1000), ("ELIMIPL", "MIPLGP", "PRODEN-Mean", "PL-AGGD-Mean")
SETTINGS_OF = "lesion5-kmeansseg"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="four methods, two sizes, nothing written")
    quick = parser.parse_args(arguments).quick
    bags = made_bags()
    beside = measure(bags, QUICK if quick else tuple(METHODS), SIZES[:1])
    growth = measure(bags, QUICK if quick else GROWING, QUICK_SIZES if quick else SIZES)
    report = {
        "bags": repr(bags),
        "settings": {method: config_of(Cell(SETTINGS_OF, 0, method)).to_dict() for method in METHODS},
        "beside_elimipl": times_elimipl({method: runs[SIZES[0]] for method, runs in beside.items()}),
        "growth": {method: {"exponent": exponent(runs), "bags": runs} for method, runs in growth.items()},
        "cores": os.cpu_count(),
        "versions": {"python": platform.python_version()},
    }
    print_tables(report)
    if not quick:
        RESULTS.write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def measure(bags: BagDataset, methods: Sequence[str], sizes: Sequence[int]) -> dict[str, dict[int, dict[str, Any]]]:
    """Method → number of bags → seconds, cpu_seconds, added_mb, accuracy; or why there is nothing."""
    found: dict[str, dict[int, dict[str, Any]]] = {method: {} for method in methods}
    with tqdm(total=len(methods) * len(sizes), unit="run", disable=None) as bar:
        for task, outcome in run_tasks(_tasks(bags, methods, sizes), workers=1):
            bar.set_description(f"{task.cell.method}, {task.bags['bags']} bags", refresh=False)
            bar.update()
            found[task.cell.method][task.bags["bags"]] = _kept(outcome.split, outcome.failure)
    return found


def _tasks(bags: BagDataset, methods: Sequence[str], sizes: Sequence[int]) -> Iterator[Task]:
    for size in sizes:
        part = bags.subset(np.arange(size))  # classes take turns, so any beginning has all of them
        ((train, test),) = stratified_splits(part.labels, 1)
        for method in methods:
            cell = Cell(SETTINGS_OF, 0, method)
            yield Task(cell, 0, config_of(cell), part.subset(train), part.subset(test), {"bags": size})


def _kept(split: Mapping[str, Any] | None, failure: str) -> dict[str, Any]:
    if split is None:
        return {"failed": failure}
    added = None if split["peak_mb"] is None else split["peak_mb"] - split["start_mb"]
    kept = {name: split[name] for name in ("seconds", "cpu_seconds", "accuracy", "notes")}
    return {**kept, "accuracy": round(split["accuracy"], 4), "added_mb": added}


def times_elimipl(runs: Mapping[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Each run with its processor time in times of ELIMIPL's."""
    unit = runs["ELIMIPL"]["cpu_seconds"]
    return {
        method: run if "failed" in run else {**run, "times_elimipl": round(run["cpu_seconds"] / unit, 3)}
        for method, run in runs.items()
    }


def exponent(runs: Mapping[int, Mapping[str, Any]]) -> float | None:
    """p of cpu_seconds ∝ bags^p, by least squares on the logarithms."""
    known = {size: run["cpu_seconds"] for size, run in runs.items() if run.get("cpu_seconds")}
    if len(known) < 2:
        return None
    return round(float(np.polyfit(np.log(list(known)), np.log(list(known.values())), 1)[0]), 2)


def print_tables(report: Mapping[str, Any]) -> None:
    print(
        f"\n{'method, 500 bags':<22}{'seconds':>9}{'processor s':>13}{'× ELIMIPL':>11}{'added MB':>10}{'accuracy':>10}"
    )
    for method, run in report["beside_elimipl"].items():
        print(f"{method:<22}{run['failed']}" if "failed" in run else _line(method, run))
    sizes = list(next(iter(report["growth"].values()))["bags"])
    head = "".join(f"{f'{size:,} bags':>18}" for size in sizes)
    print(f"\n{'processor s / MB':<18}{head}{'exponent':>10}")
    for method, grown in report["growth"].items():
        cells = "".join(f"{_cell(run):>18}" for run in grown["bags"].values())
        print(f"{method:<18}{cells}{grown['exponent'] or '–':>10}")


def _line(method: str, run: Mapping[str, Any]) -> str:
    times = f"{run['seconds']:>9.1f}{run['cpu_seconds']:>13.1f}{run['times_elimipl']:>11.2f}"
    return f"{method:<22}{times}{run['added_mb'] or 0:>10}{run['accuracy']:>10.3f}"


def _cell(run: Mapping[str, Any]) -> str:
    return "failed" if "failed" in run else f"{run['cpu_seconds']:.1f} / {run['added_mb'] or 0}"


if __name__ == "__main__":
    main()
