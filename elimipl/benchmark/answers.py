"""What people ask of the comparison, answered from the records, each with its caveat in the same breath."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from elimipl.benchmark.cells import CROWD, DATA, VIEWS, Cell
from elimipl.benchmark.claims import FEWEST_SPLITS, PairedTest, leads
from elimipl.benchmark.records import Measured, Records, signed
from elimipl.methods import METHODS

TISSUE = VIEWS["table 3"].data
LOCATED = "birdsong"
"""Where attention is held against known positives."""
LOCATED_NUMBERS = {
    "AUROC": "attention_auroc",
    "untrained AUROC": "untrained_attention_auroc",
    "average precision": "attention_precision",
    "untrained precision": "untrained_attention_precision",
    "calibration error": "calibration_error",
}
"""What is told of a method there: column and the entry of a split."""


@dataclass(frozen=True)
class Answer:
    """A question and what the records say to it."""

    question: str
    said: str


def lead_sentence(better: str, worse: str, tests: Sequence[PairedTest]) -> str:
    """What a forest plot of two methods supports; rows of fewer than five splits are not counted."""
    tested = [test for test in tests if test.corrected_t is not None]
    if not tested:
        return f"Nothing can be said about {better} and {worse}: no row has {FEWEST_SPLITS} splits."
    ahead, behind = ([test for test in tested if test.verdict == verdict] for verdict in ("holds", "reversed"))
    where = f" ({_listed(ahead)})" if ahead else ""
    said = f"{better} is clearly better than {worse} in {len(ahead)} of {len(tested)} rows{where} and "
    said += f"clearly worse in {len(behind)} ({_listed(behind)})." if behind else "nowhere clearly worse."
    tissue = [test for test in tested if test.data in TISSUE]
    if tissue and not any(test in tissue for test in (*ahead, *behind)):
        said += f" On tissue no difference shows in {_rows(len(tissue))}."
    left_out = len(tests) - len(tested)
    if not left_out:
        return said
    few = "has fewer than {} splits and doesn't count" if left_out == 1 else "have fewer than {} splits and don't count"
    return f"{said} {_rows(left_out)} {few.format(FEWEST_SPLITS)}."


def answers(records: Records) -> list[Answer]:
    """The questions that the records can answer."""
    found = (
        Answer("Does conjugate label information beat cross-entropy?", _cross_entropy(records)),
        Answer("Does attention find the instances?", _attention(records)),
        Answer("What is best today, and by how much?", _best(records)),
        Answer("Which would you take for tissue?", _for_tissue(records)),
    )
    return [answer for answer in found if answer.said]


def _cross_entropy(records: Records) -> str:
    tests = [test for test in leads(records, "ELIMIPL", "CE") if test.corrected_t is not None]
    if not tests:
        return ""
    parts = "; ".join(f"{row_name(test)} {signed(test.mean)}{_papers(test)}, {test.verdict}" for test in tests)
    return f"ELIMIPL − CE over {_range([test.n for test in tests])} splits: {parts}. No other data has enough splits."


def _papers(test: PairedTest) -> str:
    return "" if test.paper is None else f" (the paper: {signed(test.paper)})"


def _attention(records: Records) -> str:
    what = "attention_auroc"
    floor = f"untrained_{what}"
    rows = [row for row in measured_on(records, LOCATED) if row.cell.r == 1 and row.having(floor) >= FEWEST_SPLITS]
    if not rows:
        return ""
    best = max(rows, key=lambda row: row.average(what) or 0)
    ours = next((row for row in rows if row.cell.method == "ELIMIPL"), best)
    chosen = f", the best of {len(rows)} methods" if len(rows) > 1 else ""
    others = f", {best.average(what):.2f} for {best.cell.method}{chosen}" if best is not ours else chosen
    return (
        f"Many, not all: on {row_title(LOCATED, 1)}, the AUROC of the attention against the positive instances of a "
        f"bag is {ours.average(what):.2f} for {ours.cell.method}{others}, over at least {FEWEST_SPLITS} splits; before "
        f"its first step the network has {ours.average(f'untrained_{what}'):.2f}."
    )


def _best(records: Records) -> str:
    parts, most = [], 0
    for data, r in _settings(records):
        rows = [row for row in measured_on(records, data) if row.cell.r == r and len(row.splits) >= FEWEST_SPLITS]
        rows = [row for row in rows if row.cell.method != "ABMIL"]  # it is told the true labels
        if len(rows) < 3 or not any(row.cell.method == "ELIMIPL" for row in rows):
            continue
        best, most = max(rows, key=lambda row: row.mean), max(most, len(rows))
        part = f"{row_title(data, r)} {best.cell.method} {best.mean:.3f}"
        if best.cell.method != "ELIMIPL":
            lead = next(
                (one for one in leads(records, best.cell.method, "ELIMIPL") if (one.data, one.r) == (data, r)), None
            )
            part += f" ({signed(lead.mean)} on ELIMIPL, {lead.verdict})" if lead else ""
        parts.append(part)
    if not parts:
        return ""
    return (
        f"Of methods with at least {FEWEST_SPLITS} splits: {'; '.join(parts)}. The best of up to {most} is picked by "
        "these very test bags, which flatters it."
    )


def _for_tissue(records: Records) -> str:
    """The method with the highest mean over all tissue data that the most methods share."""
    table = {
        data: {row.cell.method: row for row in measured_on(records, data) if len(row.splits) > 1} for data in TISSUE
    }
    table = {data: rows for data, rows in table.items() if "ELIMIPL" in rows and "ELIMIPL-entropy" in rows}
    if not table:
        return ""
    common = set.intersection(*(set(rows) for rows in table.values())) - {"ABMIL"}  # it is told the true labels
    means = {method: float(np.mean([rows[method].mean for rows in table.values()])) for method in common}
    best, *others = sorted(means, key=lambda method: -means[method])
    runner_up = ""
    if others:
        wins = [rows for rows in table.values() if rows[best].mean > rows[others[0]].mean]
        sure = sum(min(len(rows[one].splits) for one in (best, others[0])) >= FEWEST_SPLITS for rows in wins)
        runner_up = f", before {others[0]} ({means[others[0]]:.3f}; ahead of it in {len(wins)} of {len(table)} sets, "
        runner_up += f"{sure} of them with {FEWEST_SPLITS} splits)"
    elsewhere = "only the lesions are" if any(data.startswith("lesion5") for data in table) else "none of them is"
    splits = _range([len(rows[best].splits) for rows in table.values()])
    return (
        f"{best}: {means[best]:.3f} on average over {len(table)} sets of tissue bags{runner_up}, of {len(common)} "
        f"methods run on all of them with {splits} splits; candidate sets are simulated, and {elsewhere} tested on "
        "other slides than those learned from."
    )


def measured_on(records: Records, data: str) -> list[Measured]:
    """Everything that ran on a data set, by r and in the order of the methods."""
    rs = sorted({kept["r"] for kept in records.cells.values() if kept["data"] == data})
    found = (records.measured(Cell(data, r, method)) for r in rs for method in METHODS)
    return [one for one in found if one is not None]


def _settings(records: Records) -> Iterator[tuple[str, int]]:
    ran = {(kept["data"], kept["r"]) for kept in records.cells.values() if kept["splits"]}
    yield from sorted(ran, key=lambda one: (list(DATA).index(one[0]), one[1]))


def row_title(data: str, r: int) -> str:
    """
    >>> row_title("birdsong", 2), row_title("crc-row", 0)
    ('Birdsong, r = 2', 'CRC-MIPL Row, rebuilt')
    """
    return DATA[data].title + (f", r = {r}" if r != CROWD else "")


def row_name(test: PairedTest) -> str:
    """What a row of a forest plot is called."""
    return row_title(test.data, test.r)


def _rows(count: int) -> str:
    return f"{count} row{'s' if count > 1 else ''}"


def _listed(tests: Sequence[PairedTest]) -> str:
    return "; ".join(map(row_name, tests))


def _range(counts: Sequence[int]) -> str:
    low, high = min(counts), max(counts)
    return str(low) if low == high else f"{low} to {high}"
