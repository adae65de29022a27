"""Which setting explains a number that is far from the paper's? One factor changed at a time, on bags not reported.

python scripts/measure_readings.py [--data FOLDER]   # ten minutes; resumes; writes benchmarks/results/readings.json

Learners of bag features on pictures: standardising the features or leaving the pixels as they are (0 to 1, 0 to 255),
the learning rate, the bags per step, weight decay. MA+SP on Birdsong: the weight of its sparsity loss; the mean over
the thirteen classes in the place of the sum is a weight of 10/13. Bags of seed 1, three splits (MA+SP: one).
"""

import argparse
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from bag_generators.base.errors import InputError
from elimipl.benchmark.cells import Cell
from elimipl.benchmark.sources import SOURCES, USUAL_FOLDERS, DataFolders
from elimipl.benchmark.tasks import config_of
from elimipl.datasets.dataset import BagDataset
from elimipl.methods import METHODS, bag_features
from elimipl.model.scaling import fit_scaler
from elimipl.training.splits import stratified_splits

RESULTS = Path(__file__).resolve().parents[1] / "benchmarks" / "results" / "readings.json"
SEED = 1
Change = dict[str, Any]
PIXELS: tuple[Change, ...] = ({}, {"pixels": 1.0}, {"pixels": 255.0}, {"batch": 16}, {"weight_decay": 0.0})
COMPARED: tuple[tuple[Cell, int, tuple[Change, ...]], ...] = (
    (Cell("mnist", 1, "PRODEN-Mean"), 3, (*PIXELS, {"lr": 0.001}, {"lr": 0.1}, {"pixels": 1.0, "lr": 0.001})),
    (Cell("mnist", 1, "LWS-Mean"), 3, (*PIXELS, {"lr": 0.01}, {"pixels": 1.0, "lr": 0.01}, {"beta": 2.0})),
    (Cell("fmnist", 1, "RC-MaxMin"), 3, (*PIXELS, {"lr": 0.01}, {"pixels": 1.0, "lr": 0.01})),
    (Cell("birdsong", 1, "MA+SP"), 1, tuple({"mu": mu} for mu in (10.0, 10 / 13, 0.1))),
)


def accuracy(cell: Cell, train: BagDataset, test: BagDataset, split: int, change: Change) -> float | None:
    """Test accuracy with a setting changed, or with bag features that are pixels of this range, not standardised."""
    settings = {name: value for name, value in change.items() if name != "pixels"}
    config = config_of(cell).replace(seed=split, **settings)
    if "pixels" not in change:
        return METHODS[cell.method].fit(train, config, device="cpu").predict(test).accuracy(test.labels)
    parts = [replace(part, instances=part.instances * np.float32(change["pixels"])) for part in (train, test)]
    with mock.patch.object(bag_features, "fit_scaler", lambda features, _: fit_scaler(features, "none")):
        return METHODS[cell.method].fit(parts[0], config, device="cpu").predict(parts[1]).accuracy(test.labels)


def runs(folders: DataFolders) -> Iterator[tuple[str, Cell, BagDataset, BagDataset, int, Change]]:
    """Every run with its name; data that is not there is said and left out."""
    for cell, count, changes in COMPARED:
        try:
            bags = SOURCES[cell.data].build(folders.of(cell), r=cell.r, seed=SEED)
        except InputError as error:
            print(error)
            continue
        for change in changes:
            for split, parts in enumerate(stratified_splits(bags.labels, count, seed=SEED)):
                train, test = (bags.subset(part) for part in parts)
                yield f"{cell.name}, split {split}: {json.dumps(change)}", cell, train, test, split, change


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder of the raw data (default: data)")
    given = parser.parse_args()
    folders = DataFolders((given.data, *USUAL_FOLDERS) if given.data else USUAL_FOLDERS)
    done: dict[str, float | None] = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    for name, cell, train, test, split, change in runs(folders):
        if name not in done:
            done[name] = accuracy(cell, train, test, split, change)
            RESULTS.write_text(json.dumps(done, indent=1) + "\n", encoding="utf-8")
            print(name, done[name], flush=True)


if __name__ == "__main__":
    main()
