"""What the paper sees in its Figure 4 (Birdsong, r = 1 to 10), and what our runs show of it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from elimipl.benchmark.cells import MIPL, VIEWS, Cell
from elimipl.benchmark.records import Records
from elimipl.benchmark.wording import signed

TURN = 7
"""From this r on the paper has MIPLGP ahead of DEMIPL."""


def phenomena(records: Records, data: str = "birdsong") -> list[tuple[str, str]]:
    """The three observations of the paper, each with what our means say to it."""
    means = {method: _means(records, data, method) for method in MIPL}
    ours, before, gaussian = (means[method] for method in MIPL)
    return [
        (
            "(a) ELIMIPL is more accurate than DEMIPL and MIPLGP at every r.",
            _compared({r: ours[r] > max(before[r], gaussian[r]) for r in ours if r in before and r in gaussian}),
        ),
        (
            f"(b) DEMIPL is ahead of MIPLGP for r < {TURN}, behind it from r = {TURN} on.",
            _compared({r: (before[r] > gaussian[r]) == (r < TURN) for r in before if r in gaussian}),
        ),
        (
            "(c) ELIMIPL's lead over DEMIPL is greater for r = 6 to 10 than for r = 1 to 5.",
            _halves({r: ours[r] - before[r] for r in ours if r in before}),
        ),
    ]


def _means(records: Records, data: str, method: str) -> dict[int, float]:
    found = {r: records.measured(Cell(data, r, method)) for r in VIEWS["figure 4"].rs}
    return {r: measured.mean for r, measured in found.items() if measured is not None}


def _compared(agrees: Mapping[int, bool]) -> str:
    if not agrees:
        return "Not all of them have been run here."
    yes, no = ([str(r) for r, so in agrees.items() if so is wanted] for wanted in (True, False))
    if not no:
        return f"So it is here, at r = {', '.join(yes)}."
    if not yes:
        return f"Not so here, at r = {', '.join(no)}."
    return f"So it is here at r = {', '.join(yes)}, not at r = {', '.join(no)}."


def _halves(leads: Mapping[int, float]) -> str:
    low, high = ([lead for r, lead in leads.items() if (r > 5) is upper] for upper in (False, True))
    if len(low) < 5 or len(high) < 5:
        return "Here not all r have been run."
    so = "So it is here" if np.mean(high) > np.mean(low) else "Not so here"
    return f"{so}: {signed(float(np.mean(high)))} against {signed(float(np.mean(low)))} on average."
