"""The results file: every finished split with what is needed to run it again. Written whole after each split."""

from __future__ import annotations

import hashlib
import json
import platform
from pathlib import Path
from typing import Any

import numpy as np
import torch

from bag_generators.errors import InputError
from benchmarks.reproduction.cells import Cell
from elimipl.config import Config
from elimipl.dataset import BagDataset
from elimipl.protocol import SplitResult
from elimipl.whole_file import write_whole


class Records:
    """The cells of one results file by name: settings, bags and splits."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.cells: dict[str, Any] = {}
        if path.exists():
            try:
                self.cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
            except (ValueError, KeyError, TypeError, OSError):
                raise InputError(
                    f"“{path}” can't be read as a results file.", "Move it away to start from nothing."
                ) from None

    def finished(self, cell: Cell) -> dict[int, SplitResult]:
        """The finished splits of a cell by their index."""
        splits = self.cells.get(cell.name, {}).get("splits", {})
        return {
            int(index): SplitResult(int(index), kept["accuracy"], kept["disambiguation_accuracy"], kept["seconds"])
            for index, kept in splits.items()
        }

    def check(self, cell: Cell, config: Config, dataset: BagDataset) -> None:
        """Refuse to put splits of other settings or other bags into one mean."""
        known = self.cells.get(cell.name)
        if known is None:
            return
        if not _same_settings(known["settings"], config):
            changed = "settings"
        elif known["bags"]["sha256"] != _sha256(dataset):
            changed = "bags"
        else:
            return
        raise InputError(
            f"“{self.path}” holds splits of {cell.name} with other {changed}.",
            "Move the file away, or write the results somewhere else with --results.",
        )

    def add(self, cell: Cell, config: Config, dataset: BagDataset, result: SplitResult) -> None:
        """Note a finished split and write the file."""
        bags = {**dataset.params, "sha256": _sha256(dataset)}
        record = self.cells.setdefault(cell.name, {"settings": config.to_dict(), "bags": bags, "splits": {}})
        record["splits"][str(result.index)] = {
            "accuracy": result.accuracy,
            "disambiguation_accuracy": result.disambiguation_accuracy,
            "seed": config.seed + result.index,
            "seconds": round(result.seconds, 1),
            "versions": {"python": platform.python_version(), "torch": torch.__version__, "numpy": np.__version__},
        }
        record["splits"] = dict(sorted(record["splits"].items(), key=lambda item: int(item[0])))
        content = json.dumps({"cells": dict(sorted(self.cells.items()))}, indent=1) + "\n"
        write_whole(self.path, content.encode(), "The results file")


def _same_settings(known: dict[str, Any], config: Config) -> bool:
    """Settings that came to the code later count as the preset has them; settings that are gone can't be the same."""
    try:
        return Config.from_dict(known) == config
    except InputError:
        return False


def _sha256(dataset: BagDataset) -> str:
    digest = hashlib.sha256()
    for array in (dataset.instances, dataset.offsets, dataset.candidates, dataset.labels):
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
