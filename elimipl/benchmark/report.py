"""The results as a Markdown page: a table for each of the paper's, its claims tested, and what was found out."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from bag_generators.storage import write_whole
from elimipl.benchmark.cells import CROWD, DATA, SINCE, VIEWS, Cell, View, study_cells
from elimipl.benchmark.claims import Claim, PairedTest, claims, phenomena
from elimipl.benchmark.records import Measured, Records
from elimipl.benchmark.sources import SOURCES
from elimipl.benchmark.wording import CAPTIONS, CLAIMS_INTRODUCTION, INTRODUCTION, p_value, printed, shown, signed

FINDINGS = "findings.md"
"""Text written by hand, beside the results it is about; it ends the page."""


def write_report(records: Records, path: Path) -> None:
    """Write the page for the splits finished so far."""
    parts = [INTRODUCTION, *(part for view in VIEWS.values() for part in _section(records, view))]
    parts += ["## What the paper claims, tested\n", CLAIMS_INTRODUCTION, *map(_claim, claims(records))]
    studied = [measured for cell in study_cells() if (measured := records.measured(cell)) is not None]
    if studied:
        parts += ["## How many instances of a bag are positive\n", _study_table(studied)]
    findings = path.with_name(FINDINGS)
    if findings.exists():
        parts.append(findings.read_text(encoding="utf-8"))
    write_whole(path, "\n".join(parts).encode(), "The report")


def _section(records: Records, view: View) -> list[str]:
    """A heading, the caption, and a table for each data set that has been run at all."""
    parts = [f"## {view.id.capitalize()}: {view.title}\n", CAPTIONS[view.id]]
    tables = [part for data in view.data for part in _tables_of(records, view, data)]
    if view.id == "figure 4" and tables:
        tables.append("".join(f"- {said} {found}\n" for said, found in phenomena(records)))
    return parts + (tables or ["Nothing of this has been run.\n"])


def _tables_of(records: Records, view: View, data: str) -> list[str]:
    parts = []
    title = DATA[data].title
    sections = (
        (view.methods, ""),
        (view.extra, ", perceptrons"),
        (SINCE, ", methods since and variants"),
        (_added(records, data), ", registered methods"),
    )
    for methods, heading in sections:
        cells = [Cell(data, r, method) for r in view.rs for method in methods]
        if any(records.measured(cell) or records.failures(cell) for cell in cells):
            parts += [f"### {title}{heading}\n", _table(records, cells)]
    return parts


def _added(records: Records, data: str) -> tuple[str, ...]:
    """Recorded methods that are in none of the tables."""
    known = {cell.method for view in VIEWS.values() for cell in view.cells()} | set(SINCE)
    return tuple(sorted({kept["method"] for kept in records.cells.values() if kept["data"] == data} - known))


def _table(records: Records, cells: Iterable[Cell]) -> str:
    rows, notes = [], dict[str, None]()
    for cell in cells:
        measured, failures = records.measured(cell), records.failures(cell)
        start = [*([] if cell.r == CROWD else [str(cell.r)]), cell.method]
        rows.append([*start, *_numbers(cell, measured), "; ".join(dict.fromkeys(failures.values()))])
        notes |= dict.fromkeys(f"{cell.method}: {note}" for note in (measured.notes if measured else ()))
    comparable = DATA[cell.data].comparable
    head = [*([] if cell.r == CROWD else ["r"]), "method", "ours", "paper" if comparable else "paper, CRC-MIPL"]
    head += ["difference", "splits", "seconds per split", "peak MB", "failed"]
    if not any(row[-1] for row in rows):
        head, rows = head[:-1], [row[:-1] for row in rows]
    remarks = "".join(f"- {note}\n" for note in notes)
    return as_table(head, rows) + (f"\n{remarks}" if remarks else "")


def _numbers(cell: Cell, measured: Measured | None) -> list[str]:
    """Ours, the paper's, the difference, splits, seconds and megabytes."""
    paper = printed(*cell.paper) if cell.paper else "–"
    if measured is None:
        return ["not run", paper, "", "0", "", ""]
    ours, difference = shown(measured), ""
    if cell.paper and DATA[cell.data].comparable:
        mean, std = cell.paper
        difference = signed(measured.mean - mean)
        ours = f"**{ours}**" if measured.mean < mean - std else ours
    seconds, megabytes = measured.average("seconds"), measured.average("peak_mb")
    return [
        ours,
        paper,
        difference,
        str(len(measured.splits)),
        "" if seconds is None else f"{seconds:.1f}" if seconds < 10 else f"{seconds:.0f}",
        "" if megabytes is None else f"{megabytes:.0f}",
    ]


def _claim(claim: Claim) -> str:
    head = ["data", "what", "mean difference", "paper", "n", "p, Wilcoxon", "p, corrected t", "verdict"]
    return f"### {claim.title}\n\n" + as_table(head, [_tested(test) for test in claim.tests])


def _tested(test: PairedTest) -> list[str]:
    return [
        DATA[test.data].title,
        test.title,
        signed(test.mean),
        "–" if test.paper is None else signed(test.paper),
        str(test.n),
        p_value(test.wilcoxon),
        p_value(test.corrected_t),
        test.verdict,
    ]


def _study_table(studied: Iterable[Measured]) -> str:
    head = ["data", "r", "method", "positives in an average bag", "ours", "splits", "paper"]
    rows = []
    for measured in studied:
        cell, recipe = measured.cell, SOURCES[measured.cell.data].recipe
        positives = (cell.positive_share or recipe.positive_share) * recipe.average
        paper = printed(*cell.paper) if cell.paper else "–"
        row = [DATA[cell.data].title, str(cell.r), cell.method, f"{positives:.1f}", shown(measured)]
        rows.append([*row, str(len(measured.splits)), paper])
    return as_table(head, rows)


def as_table(head: list[str], rows: list[list[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"
