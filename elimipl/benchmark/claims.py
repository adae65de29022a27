"""What the paper claims, tested on our runs and reported as found: who is ahead, and whether the lead grows with r."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import stats

from elimipl.benchmark.cells import ABLATIONS, CROWD, DATA, MIPL, VIEWS, Cell
from elimipl.benchmark.records import Records, signed

LEVEL = 0.05
FEWEST_SPLITS = 5
"""Fewer splits say nothing: even five differences of one sign only reach p = .0625 by the rank test."""
TURN = 7
"""From this r on the paper has MIPLGP ahead of DEMIPL."""


def wilcoxon_p(differences: Sequence[float]) -> float:
    """Two-sided p of the Wilcoxon signed-rank test; 1 where nothing differs."""
    values = np.asarray(differences, dtype=float)
    if not values.any():
        return 1.0
    return float(stats.wilcoxon(values).pvalue)


def corrected_t_p(differences: Sequence[float], test_per_train: float) -> float:
    """Two-sided p of the paired t-test with the correction of Nadeau and Bengio (2003) for overlapping splits.

    Splits of the same bags share most of their training bags, so their differences are alike and the plain t-test is
    far too sure. The variance of the mean is taken as (1/n + n_test/n_train) σ² instead of σ²/n.
    """
    values = np.asarray(differences, dtype=float)
    error = _standard_error(values, test_per_train)
    if error == 0:
        return 1.0 if values.mean() == 0 else 0.0
    return float(2 * stats.t.sf(abs(values.mean()) / error, df=len(values) - 1))


def _standard_error(values: np.ndarray, test_per_train: float) -> float:
    return math.sqrt((1 / len(values) + test_per_train) * values.var(ddof=1))


@dataclass(frozen=True)
class PairedTest:
    """One statement about differences over splits, all in accuracy."""

    title: str
    data: str
    differences: tuple[float, ...]
    test_per_train: float
    paper: float | None = None
    """The same difference of the paper's means."""
    r: int = CROWD

    @property
    def n(self) -> int:
        return len(self.differences)

    @property
    def mean(self) -> float:
        return float(np.mean(self.differences))

    @cached_property
    def wilcoxon(self) -> float | None:
        """Two-sided p, None where the splits are too few."""
        return wilcoxon_p(self.differences) if self.n >= FEWEST_SPLITS else None

    @cached_property
    def corrected_t(self) -> float | None:
        """Two-sided p, None where the splits are too few."""
        return corrected_t_p(self.differences, self.test_per_train) if self.n >= FEWEST_SPLITS else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """95 % confidence interval of the mean by the corrected t-test, None for one or two splits."""
        if self.n < 3:
            return None
        values = np.asarray(self.differences)
        reach = float(stats.t.ppf(1 - LEVEL / 2, df=self.n - 1)) * _standard_error(values, self.test_per_train)
        return self.mean - reach, self.mean + reach

    @property
    def verdict(self) -> str:
        """By the corrected t-test: holds, reversed (significant the other way round), open, or too few splits."""
        p = self.corrected_t
        if p is None:
            return "too few splits"
        if p >= LEVEL:
            return "open"
        return "holds" if self.mean > 0 else "reversed"


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper (or of ours) and the tests of it."""

    title: str
    tests: tuple[PairedTest, ...]


def claims(records: Records) -> list[Claim]:
    """Every claim that some of the runs speak about."""
    compared = [
        ("ELIMIPL is more accurate than DEMIPL", "ELIMIPL", "DEMIPL"),
        ("ELIMIPL is more accurate than MIPLGP", "ELIMIPL", "MIPLGP"),
        ("Conjugate label information beats cross-entropy: ELIMIPL against CE", "ELIMIPL", "CE"),
        ("Conjugate label information beats cross-entropy: ELIMIPL against CE-SP-IN", "ELIMIPL", "CE-SP-IN"),
        *((f"Every part of the loss helps: ELIMIPL against {name}", "ELIMIPL", name) for name in ABLATIONS),
    ]
    ours = "Our change: ELIMIPL with the entropy of the candidates for its sparsity is more accurate than ELIMIPL"
    found = [
        *(Claim(title, tuple(leads(records, better, worse))) for title, better, worse in compared),
        Claim("ELIMIPL's lead over DEMIPL grows with r", tuple(_growing_leads(records))),
        Claim(ours, tuple(leads(records, "ELIMIPL-entropy", "ELIMIPL"))),
    ]
    return [claim for claim in found if claim.tests]


def leads(records: Records, better: str, worse: str) -> Iterator[PairedTest]:
    """A test for every data set and r that both methods ran on."""
    for data, r in _settings_run(records, better):
        if found := _leads(records, data, r, better, worse):
            papers = [Cell(data, r, method).paper for method in (better, worse)]
            paper = papers[0][0] - papers[1][0] if DATA[data].comparable and papers[0] and papers[1] else None
            title = f"{better} − {worse}" + (f", r = {r}" if r else "")
            yield PairedTest(title, data, tuple(found.values()), _ratio(records, Cell(data, r, better)), paper, r)


def _growing_leads(records: Records) -> Iterator[PairedTest]:
    """Per split, the slope of the lead over r; and the paper's own comparison, r above 5 against r up to 5."""
    for data in dict.fromkeys(data for data, r in _settings_run(records, "ELIMIPL") if r > 0):
        leads = {r: _leads(records, data, r, "ELIMIPL", "DEMIPL") for r in VIEWS["figure 4"].rs}
        known = {r: lead for r, lead in leads.items() if lead}
        if len(known) < 2:
            continue
        common = sorted(set.intersection(*(set(lead) for lead in known.values())))
        if not common:
            continue
        table = np.array([[lead[i] for i in common] for lead in known.values()])  # (rs, splits)
        rs = np.array(list(known), dtype=float)
        ratio = _ratio(records, Cell(data, int(rs[0]), "ELIMIPL"))
        slopes = (rs - rs.mean()) @ (table - table.mean(axis=0)) / ((rs - rs.mean()) ** 2).sum()
        title = f"gain of the lead for each further false positive, r = {', '.join(str(int(r)) for r in rs)}"
        yield PairedTest(title, data, tuple(map(float, slopes)), ratio, _paper_slope(data, rs))
        if len(known) == 10:
            wider = table[rs > 5].mean(axis=0) - table[rs <= 5].mean(axis=0)
            yield PairedTest(
                "mean lead at r = 6 to 10 − mean lead at r = 1 to 5", data, tuple(map(float, wider)), ratio
            )


def _leads(records: Records, data: str, r: int, better: str, worse: str) -> dict[int, float]:
    first, second = (records.measured(Cell(data, r, method)) for method in (better, worse))
    if first is None or second is None:
        return {}
    return {i: first.accuracies[i] - second.accuracies[i] for i in sorted(first.splits.keys() & second.splits.keys())}


def _paper_slope(data: str, rs: np.ndarray) -> float | None:
    """The same slope of the paper's means, where it prints them."""
    numbers = [[Cell(data, int(r), method).paper for method in ("ELIMIPL", "DEMIPL")] for r in rs]
    leads = [first[0] - second[0] for first, second in numbers if first is not None and second is not None]
    if len(leads) < len(rs):
        return None
    return float((rs - rs.mean()) @ np.array(leads) / ((rs - rs.mean()) ** 2).sum())


def _settings_run(records: Records, method: str) -> list[tuple[str, int]]:
    """Data sets and r on which a method ran, in the order of the tables."""
    cells = dict.fromkeys((cell.data, cell.r) for view in VIEWS.values() for cell in view.cells())
    return [(data, r) for data, r in cells if records.measured(Cell(data, r, method))]


def _ratio(records: Records, cell: Cell) -> float:
    split = next(iter(records.cells[cell.name]["splits"].values()))
    return float(split["test_bags"] / split["train_bags"])


def phenomena(records: Records, data: str = "birdsong") -> list[tuple[str, str]]:
    """What the paper sees in its Figure 4 (r = 1 to 10), three observations, each with what our means say to it."""
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
