"""The results as a Markdown page: a table for each of the paper's, its claims tested, and what was found out."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from bag_generators.base.storage import write_whole
from elimipl.benchmark.answers import LOCATED, LOCATED_NUMBERS, measured_on
from elimipl.benchmark.cells import CROWD, DATA, SINCE, SPLITS, VIEWS, Cell, View
from elimipl.benchmark.claims import Claim, PairedTest, claims, phenomena
from elimipl.benchmark.records import Measured, Records, p_value, printed, shown, signed

FINDINGS = "findings.md"
"""Text written by hand, beside the results it is about; it ends the page."""

INTRODUCTION = f"""# The paper's comparison

Made by `python -m elimipl benchmark`, which goes on where it was stopped. Test accuracy after the last epoch, mean ±
standard deviation (ddof 0) over random stratified 7:3 splits. The paper has {SPLITS} splits for every number; the
column “splits” says how many ours rests on. Every method learns from the same bags, candidate sets and splits.
Settings, seeds, versions, times and memory of every split are in `benchmark.json`, the reasons for the settings in
`elimipl/benchmark/settings.py`. Seconds were taken with other work on the machine. **Bold**: ours is below the
paper's mean − standard deviation.
"""

CAPTIONS = {
    "table 2": """\
MNIST-, FMNIST- and Birdsong-MIPL are rebuilt from the raw data after the paper's Table 1 and its appendix; they are not
the authors' bags. SIVAL-MIPL can't be rebuilt: it needs the authors' file (`--mat`). The paper's numbers of the
perceptrons (MLP) are those of its Table A1.
""",
    "table 3": """\
The candidate sets of CRC-MIPL are in the authors' files only (`--mat`). **CRC-MIPL rebuilt** (Row, SBN) has their kind
of bags, 1,000 tiles of each of seven classes, but the candidate sets of three simulated annotators. Two other sets of
real tiles stand beside it; the paper's numbers are shown for orientation, without a difference. **Lesions** (lesion5,
five classes): split i learns from a random 70 % of every class of the training tiles, with the candidate sets of three
simulated annotators (seed i, 2.08 labels on average), and is tested on *all* validation tiles, which come from *other
slides*. So the splits differ in training bags and candidate sets only, and their deviation says nothing about yet other
slides. **Tissues** (tissue7, seven classes, 128 tiles): 7:3 splits by tile, candidate sets likewise. Bags are made with
the stain normalisation of the shipped models (lesions: tones, except SIFT) but without augmented copies, which the
shipped models have. All networks share the shipped models' settings; “ELIMIPL” has the paper's ℓ1 sparsity,
“ELIMIPL-entropy” is what is shipped.
""",
    "table 4": """\
All rows have ELIMIPL's settings; the variants leave out the sparsity loss (MA+IN), the inhibition loss (MA+SP) or both
(MA). ELIMIPL-entropy is ours, with settings of its own: the entropy of the candidates instead of their ℓ1 norm, and a
plain softmax.
""",
    "table 5": """\
“CLI loss” is ELIMIPL. CE puts equal weights on all candidates for ever, CE-SP-IN adds the sparsity and the inhibition
loss.
""",
    "figure 4": """\
Birdsong-MIPL with up to ten false positive labels. The paper prints numbers for r = 1, 2, 3 only (its Table 2); the
rest is in a picture.
""",
}

LOCATED_CAPTION = """## Attention on positives, and calibration

Birdsong, where it is known which instances carry the label: AUROC and average precision of the attention, means over
test bags and splits, beside those of the same network before its first step. Calibration error: 15 bins of equal width,
as in CDL's paper, which prints .602, .578 and .553 for ELIMIPL at r = 1, 2, 3 and .045 to .075 for CDL. Splits run
before these were recorded are not counted.
"""
CLAIMS_INTRODUCTION = """\
Differences of the test accuracy, split by split. p is two-sided, by the Wilcoxon signed-rank test and by the paired
t-test with the correction of Nadeau and Bengio for splits that overlap. The verdict follows the corrected t-test at
5 %: *holds*, *reversed* (significant the other way round), *open*. Of many tests one in twenty comes out by luck alone;
nothing is corrected for that. With fewer than five splits nothing is tested.
"""


def write_report(records: Records, path: Path) -> None:
    """Write the page for the splits finished so far."""
    parts = [INTRODUCTION, *(part for view in VIEWS.values() for part in _section(records, view))]
    parts += ["## What the paper claims, tested\n", CLAIMS_INTRODUCTION, *map(_claim, claims(records))]
    parts += _located(records)
    findings = path.with_name(FINDINGS)
    if findings.exists():
        parts.append(findings.read_text(encoding="utf-8"))
    write_whole(path, "\n".join(parts).encode(), "The report")


def tables_of_views(records: Records, views: Iterable[str]) -> str:
    """The tables of some views, as they stand in the report."""
    return "\n".join(part for view in views for part in _section(records, VIEWS[view]))


def _located(records: Records) -> list[str]:
    """Whether attention finds the positive instances, and how far confidence is from accuracy."""
    rows = [row for row in measured_on(records, LOCATED) if row.having("calibration_error")]
    if not rows:
        return []
    head = ["r", "method", *LOCATED_NUMBERS, "splits"]
    lines = [
        [str(row.cell.r), row.cell.method]
        + ["–" if number is None else f"{number:.3f}" for number in map(row.average, LOCATED_NUMBERS.values())]
        + [str(row.having("calibration_error"))]
        for row in rows
    ]
    return [LOCATED_CAPTION, as_table(head, lines)]


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


def as_table(head: list[str], rows: list[list[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"
