"""What the paper claims, tested on our runs and reported as found: who is ahead, and whether the lead grows with r."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from elimipl.benchmark.cells import ABLATIONS, DATA, VIEWS, Cell
from elimipl.benchmark.paired import FEWEST_SPLITS, corrected_t_p, wilcoxon_p
from elimipl.benchmark.records import Measured, Records

LEVEL = 0.05


@dataclass(frozen=True)
class PairedTest:
    """One statement about differences over splits, all in accuracy."""

    title: str
    data: str
    differences: tuple[float, ...]
    test_per_train: float
    paper: float | None = None
    """The same difference of the paper's means."""

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
    found = [
        Claim("ELIMIPL is more accurate than DEMIPL", tuple(_ahead(records, "ELIMIPL", "DEMIPL"))),
        Claim("ELIMIPL is more accurate than MIPLGP", tuple(_ahead(records, "ELIMIPL", "MIPLGP"))),
        Claim(
            "Conjugate label information beats cross-entropy: ELIMIPL against CE",
            tuple(_ahead(records, "ELIMIPL", "CE")),
        ),
        Claim(
            "Conjugate label information beats cross-entropy: ELIMIPL against CE-SP-IN",
            tuple(_ahead(records, "ELIMIPL", "CE-SP-IN")),
        ),
        *(
            Claim(f"Every part of the loss helps: ELIMIPL against {name}", tuple(_ahead(records, "ELIMIPL", name)))
            for name in ABLATIONS
        ),
        Claim("ELIMIPL's lead over DEMIPL grows with r", tuple(_growing_leads(records))),
        Claim(
            "Our change: ELIMIPL with the entropy of the candidates for its sparsity is more accurate than ELIMIPL",
            tuple(_ahead(records, "ELIMIPL-entropy", "ELIMIPL")),
        ),
    ]
    return [claim for claim in found if claim.tests]


def _ahead(records: Records, better: str, worse: str) -> Iterator[PairedTest]:
    """A test for every data set and r that both methods ran on."""
    for data, r in _settings_run(records, better):
        first, second = (records.measured(Cell(data, r, method)) for method in (better, worse))
        if first is None or second is None or not (common := _common([first, second])):
            continue
        differences = tuple(first.accuracies[i] - second.accuracies[i] for i in common)
        papers = [measured.cell.paper for measured in (first, second)]
        comparable = DATA[data].comparable and None not in papers
        paper = papers[0][0] - papers[1][0] if comparable and papers[0] and papers[1] else None
        yield PairedTest(f"{better} − {worse}{_at(r)}", data, differences, _ratio(first), paper)


def _growing_leads(records: Records) -> Iterator[PairedTest]:
    """Per split, the slope of the lead over r; and the paper's own comparison, r above 5 against r up to 5."""
    for data in dict.fromkeys(data for data, r in _settings_run(records, "ELIMIPL") if r > 0):
        leads = {r: _leads(records, data, r) for r in VIEWS["figure 4"].rs}
        known = {r: lead for r, lead in leads.items() if lead}
        if len(known) < 2:
            continue
        common = sorted(set.intersection(*(set(lead) for lead in known.values())))
        if not common:
            continue
        table = np.array([[lead[i] for i in common] for lead in known.values()])  # (rs, splits)
        rs = np.array(list(known), dtype=float)
        ratio = _ratio_of(records, data, int(rs[0]))
        slopes = (rs - rs.mean()) @ (table - table.mean(axis=0)) / ((rs - rs.mean()) ** 2).sum()
        title = f"gain of the lead for each further false positive, r = {', '.join(str(int(r)) for r in rs)}"
        yield PairedTest(title, data, tuple(map(float, slopes)), ratio, _paper_slope(data, rs))
        if len(known) == 10:
            wider = table[rs > 5].mean(axis=0) - table[rs <= 5].mean(axis=0)
            yield PairedTest(
                "mean lead at r = 6 to 10 − mean lead at r = 1 to 5", data, tuple(map(float, wider)), ratio
            )


def _leads(records: Records, data: str, r: int) -> dict[int, float]:
    first, second = (records.measured(Cell(data, r, method)) for method in ("ELIMIPL", "DEMIPL"))
    if first is None or second is None:
        return {}
    return {i: first.accuracies[i] - second.accuracies[i] for i in _common([first, second])}


def _paper_slope(data: str, rs: np.ndarray) -> float | None:
    """The same slope of the paper's means, where it prints them."""
    numbers = [[Cell(data, int(r), method).paper for method in ("ELIMIPL", "DEMIPL")] for r in rs]
    leads = [first[0] - second[0] for first, second in numbers if first is not None and second is not None]
    if len(leads) < len(rs):
        return None
    return float((rs - rs.mean()) @ np.array(leads) / ((rs - rs.mean()) ** 2).sum())


def _settings_run(records: Records, method: str) -> list[tuple[str, int]]:
    """Data sets and r on which a method ran, in the order of the tables; runs of the study don't count."""
    cells = dict.fromkeys((cell.data, cell.r) for view in VIEWS.values() for cell in view.cells())
    return [(data, r) for data, r in cells if records.measured(Cell(data, r, method))]


def _common(measured: Iterable[Measured]) -> list[int]:
    return sorted(set.intersection(*(set(one.splits) for one in measured)))


def _ratio(measured: Measured) -> float:
    """Test bags for each training bag."""
    split = next(iter(measured.splits.values()))
    return float(split["test_bags"] / split["train_bags"])


def _ratio_of(records: Records, data: str, r: int) -> float:
    measured = records.measured(Cell(data, r, "ELIMIPL"))
    assert measured is not None
    return _ratio(measured)


def _at(r: int) -> str:
    return f", r = {r}" if r else ""
