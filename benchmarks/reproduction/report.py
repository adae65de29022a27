"""The results as a Markdown page: ours beside the paper's, and what was found out about the differences."""

from __future__ import annotations

from pathlib import Path

from benchmarks.reproduction.cells import (
    SPLITS,
    TITLES,
    Cell,
    study_cells,
    table_cells,
)
from benchmarks.reproduction.records import Records
from benchmarks.reproduction.sources import SOURCES
from elimipl.protocol import ProtocolResult
from elimipl.whole_file import write_whole

FINDINGS = Path(__file__).with_name("findings.md")

_INTRODUCTION = f"""# The paper's benchmark, rebuilt

Made by `make reproduce`, which goes on where it was stopped. Test accuracy after the last epoch, mean ± standard
deviation (ddof 0) over random stratified 7:3 splits. The paper has {SPLITS} splits for every number; the column
“splits” says how many ours rests on. The bags are rebuilt from the raw data after the paper's Table 1, they are not the
authors' bags. Settings, seeds and versions of every split are in `reproduction.json`, the reasons for the settings in
`benchmarks/reproduction/cells.py`. **Bold**: ours is below the paper's mean − standard deviation.
"""


def write_report(records: Records, path: Path) -> None:
    """Write the page for the splits finished so far."""
    parts = [_INTRODUCTION, _table(records, table_cells())]
    studied = [cell for cell in study_cells() if records.finished(cell)]
    if studied:
        parts += ["## How many instances of a bag are positive\n", _study_table(records, studied)]
    parts.append(FINDINGS.read_text(encoding="utf-8"))
    write_whole(path, "\n".join(parts).encode(), "The report")


def _table(records: Records, cells: list[Cell]) -> str:
    head = ["data", "r", "method", "paper", "ours", "difference", "splits", "seconds a split"]
    rows = []
    for cell in cells:
        mean, std = cell.paper
        row = [TITLES[cell.data], str(cell.r), TITLES[cell.method], _printed(mean, std)]
        ours = _ours(records, cell)
        if ours is None:
            rows.append([*row, "not run", "", "0", ""])
            continue
        shown = _shown(ours)
        rows.append(
            [
                *row,
                f"**{shown}**" if ours.mean < mean - std else shown,
                f"{ours.mean - mean:+.3f}",
                str(len(ours.splits)),
                f"{ours.seconds / len(ours.splits):.0f}",
            ]
        )
    return _markdown(head, rows)


def _study_table(records: Records, cells: list[Cell]) -> str:
    head = ["data", "r", "method", "positives in an average bag", "ours", "splits", "paper"]
    rows = []
    for cell in cells:
        ours = _ours(records, cell)
        if ours is not None and cell.positive_share is not None:
            positives = cell.positive_share * SOURCES[cell.data].recipe.average
            rows.append(
                [
                    TITLES[cell.data],
                    str(cell.r),
                    TITLES[cell.method],
                    f"{positives:.1f}",
                    _shown(ours),
                    str(len(ours.splits)),
                    _printed(*cell.paper),
                ]
            )
    return _markdown(head, rows)


def _ours(records: Records, cell: Cell) -> ProtocolResult | None:
    splits = tuple(records.finished(cell).values())
    return ProtocolResult(splits, sum(split.seconds for split in splits)) if splits else None


def _shown(ours: ProtocolResult) -> str:
    """One split alone has no deviation to show."""
    return _printed(ours.mean, ours.std) if len(ours.splits) > 1 else f"{ours.mean:.3f}".removeprefix("0")


def _printed(mean: float, std: float) -> str:
    """As the paper prints it: .992±.007."""
    return f"{mean:.3f}±{std:.3f}".replace("0.", ".")


def _markdown(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"
