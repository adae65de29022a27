"""The results file: every finished split of every cell with what is needed to run it again.

One JSON file: {"cells": {name: {data, r, method, settings, bags, splits: {index: …}, failures: {index: sentence}}}}. It
is written whole after each split. What is in the file is read again before, with other writers kept out meanwhile, so
that two runs on different cells can share it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import ConfigDict, Field

from bag_generators.base.assets import PROJECT
from bag_generators.base.errors import InputError
from bag_generators.base.storage import only_writer, write_whole
from bag_generators.base.validation import Record, read_json, validated
from elimipl.benchmark.cells import Cell
from elimipl.config import Settings

RESULTS = PROJECT / "benchmarks" / "results"
FILE = "benchmark.json"
_WHAT = "The results file"
_Index = Annotated[str, Field(pattern=r"^\d{1,6}$")]


class _Split(Record):
    model_config = ConfigDict(extra="allow")

    accuracy: Annotated[float, Field(ge=0, le=1)]
    seconds: float | None = None
    cpu_seconds: float | None = None
    peak_mb: float | None = None
    calibration_error: float | None = None
    attention_auroc: float | None = None
    attention_precision: float | None = None
    untrained_attention_auroc: float | None = None
    untrained_attention_precision: float | None = None
    notes: tuple[str, ...] = ()


class _Cell(Record):
    data: str
    r: int
    method: str
    settings: dict[str, Any]
    bags: dict[str, Any]
    splits: dict[_Index, _Split]
    failures: dict[_Index, str] = Field(default_factory=dict)


class _File(Record):
    cells: dict[str, _Cell]


@dataclass(frozen=True)
class Measured:
    """The finished splits of a cell."""

    cell: Cell
    splits: Mapping[int, Mapping[str, Any]]

    @property
    def accuracies(self) -> dict[int, float]:
        """Test accuracy by split."""
        return {index: split["accuracy"] for index, split in self.splits.items()}

    @property
    def mean(self) -> float:
        return float(np.mean(list(self.accuracies.values())))

    @property
    def std(self) -> float:
        """Over the splits with ddof 0, as the authors report it."""
        return float(np.std(list(self.accuracies.values())))

    def average(self, what: str) -> float | None:
        """Mean of one of the numbers a split may have, over the splits that have it."""
        known = [split[what] for split in self.splits.values() if split.get(what) is not None]
        return float(np.mean(known)) if known else None

    def having(self, what: str) -> int:
        """How many splits have a number."""
        return sum(split.get(what) is not None for split in self.splits.values())

    @property
    def notes(self) -> tuple[str, ...]:
        """What the method said about its first split; those of the others differ in counts only."""
        return tuple(next(iter(self.splits.values()), {}).get("notes", ()))


class Records:
    """The cells of one results file by name."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.cells: dict[str, Any] = {}
        self.read()

    def read(self) -> None:
        """Take over what is in the file now."""
        if not self.path.exists():
            return
        called, fix = f"The results file “{self.path}”", "Move it away to start from nothing."
        values = read_json(self.path, called, fix)
        validated(_File, values, called, fix)
        self.cells = values["cells"]  # as they are: what a later version adds to a split is kept

    def measured(self, cell: Cell) -> Measured | None:
        """The finished splits of a cell; None where there are none."""
        splits = self.cells.get(cell.name, {}).get("splits", {})
        return Measured(cell, {int(index): kept for index, kept in splits.items()}) if splits else None

    def finished(self, cell: Cell) -> set[int]:
        """The indices of the splits that need not be run again."""
        return {int(index) for index in self.cells.get(cell.name, {}).get("splits", {})}

    def failures(self, cell: Cell) -> dict[int, str]:
        """Why splits of a cell failed when they were tried last."""
        return {int(index): reason for index, reason in self.cells.get(cell.name, {}).get("failures", {}).items()}

    def check(self, cell: Cell, config: Settings, bags: Mapping[str, Any]) -> None:
        """Refuse to put splits of other settings or other bags into one mean."""
        known = self.cells.get(cell.name)
        if known is None or not known["splits"]:
            return
        if not _same_settings(known["settings"], config):
            changed = "settings"
        elif known["bags"]["sha256"] != bags["sha256"]:
            changed = "bags"
        else:
            return
        raise InputError(
            f"“{self.path}” holds splits of {cell.name} with other {changed}.",
            "Move the file away, or write the results somewhere else with --results.",
        )

    def add(self, cell: Cell, config: Settings, bags: Mapping[str, Any], index: int, split: Mapping[str, Any]) -> None:
        """Note a finished split and write the file."""
        with only_writer(self.path, _WHAT):
            kept = self._kept(cell, config, bags)
            kept["splits"] = _by_number({**kept["splits"], str(index): dict(split)})
            kept.get("failures", {}).pop(str(index), None)
            self._write()

    def add_failure(self, cell: Cell, config: Settings, bags: Mapping[str, Any], index: int, reason: str) -> None:
        """Note why a split failed; it is tried again the next time."""
        with only_writer(self.path, _WHAT):
            kept = self._kept(cell, config, bags)
            kept["failures"] = _by_number({**kept.get("failures", {}), str(index): reason})
            self._write()

    def _kept(self, cell: Cell, config: Settings, bags: Mapping[str, Any]) -> dict[str, Any]:
        self.read()
        fresh = {
            "data": cell.data,
            "r": cell.r,
            "method": cell.method,
            "settings": config.to_dict(),
            "bags": dict(bags),
            "splits": {},
        }
        kept: dict[str, Any] = self.cells.setdefault(cell.name, fresh)
        if not kept["splits"]:  # a cell that only failed so far takes the settings of today
            kept.update({"settings": fresh["settings"], "bags": fresh["bags"]})
        return kept

    def _write(self) -> None:
        write_whole(self.path, as_json(self.cells).encode(), _WHAT)


def as_json(cells: Mapping[str, Any]) -> str:
    """The file's text: a line for each split, so that a change of one split changes one line."""
    return (
        '{"cells": {\n' + ",\n".join(f"{json.dumps(name)}: {_cell(cells[name])}" for name in sorted(cells)) + "\n}}\n"
    )


def _cell(kept: Mapping[str, Any]) -> str:
    lines = []
    for key, value in kept.items():
        if key in ("splits", "failures"):
            inner = ",\n".join(f"  {json.dumps(index)}: {_line(split)}" for index, split in value.items())
            lines.append(f" {json.dumps(key)}: {{\n{inner}\n }}" if inner else f" {json.dumps(key)}: {{}}")
        else:
            lines.append(f" {json.dumps(key)}: {_line(value)}")
    return "{\n" + ",\n".join(lines) + "}"


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _by_number(values: Mapping[str, Any]) -> dict[str, Any]:
    return dict(sorted(values.items(), key=lambda item: int(item[0])))


def _same_settings(known: Mapping[str, Any], config: Settings) -> bool:
    """Settings that came to the code later count as they are by default; settings that are gone can't be the same."""
    try:
        old = type(config).from_dict(known)
    except InputError:
        return False
    return old == config


def printed(mean: float, std: float) -> str:
    """As the paper prints it.

    >>> printed(0.992, 0.007)
    '.992±.007'
    """
    return f"{_bare(mean)}±{_bare(std)}"


def shown(measured: Measured) -> str:
    """Mean ± deviation of a cell; one split alone has no deviation to show."""
    return printed(measured.mean, measured.std) if len(measured.splits) > 1 else _bare(measured.mean)


def signed(difference: float) -> str:
    """
    >>> signed(-0.0184)
    '−.018'
    """
    return ("−" if round(difference, 3) < 0 else "+") + _bare(abs(difference))


def p_value(p: float | None) -> str:
    """
    >>> p_value(0.00012), p_value(0.0312), p_value(None)
    ('<.001', '.031', '–')
    """
    return "–" if p is None else "<.001" if p < 0.001 else _bare(p)


def _bare(number: float) -> str:
    text = f"{number:.3f}"
    return text[1:] if text.startswith("0.") else text
