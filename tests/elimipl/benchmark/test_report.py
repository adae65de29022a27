"""The Markdown page and the tested claims, from made-up results whose answers are known."""

import math
from pathlib import Path

import pytest

from elimipl.benchmark.cells import Cell
from elimipl.benchmark.claims import claims, corrected_t_p, phenomena, wilcoxon_p
from elimipl.benchmark.records import Records
from elimipl.benchmark.report import write_report
from elimipl.config import Config


def add(records: Records, cell: Cell, accuracies: list[float]) -> None:
    for index, accuracy in enumerate(accuracies):
        kept = {"accuracy": accuracy, "seconds": 3.0, "peak_mb": 321, "train_bags": 70, "test_bags": 30}
        records.add(cell, Config(), {"sha256": ""}, index, kept)


@pytest.fixture
def records(tmp_path: Path) -> Records:
    return Records(tmp_path / "benchmark.json")


def page(records: Records) -> str:
    path = records.path.with_suffix(".md")
    write_report(records, path)
    return path.read_text(encoding="utf-8")


def test_ours_beside_the_papers_numbers(records: Records) -> None:
    add(records, Cell("birdsong", 1, "ELIMIPL"), [0.7, 0.8])  # the paper: .771±.018
    add(records, Cell("birdsong", 1, "DEMIPL"), [0.72, 0.74])  # the paper: .744±.016
    text = page(records)
    assert "| 1 | ELIMIPL | **.750±.050** | .771±.018 | −.021 | 2 | 3.0 | 321 |" in text
    assert "| 1 | DEMIPL | .730±.010 | .744±.016 | −.014 | 2 | 3.0 | 321 |" in text
    assert "| 1 | MIPLGP | not run | .716±.026 |  | 0 |  |  |" in text
    assert "### MNIST" not in text
    add(records, Cell("birdsong", 1, "RC-MLP-Mean"), [0.4])
    assert "### Birdsong, perceptrons" in page(records)
    assert "| 1 | RC-MLP-Mean | .400 | .329±.014 | +.071 | 1 |" in page(records)


def test_one_split_has_no_deviation(records: Records) -> None:
    add(records, Cell("mnist", 2, "RC-Mean"), [0.6])
    assert "| 2 | RC-Mean | .600 | .598±.033 | +.002 | 1 |" in page(records)


def test_other_data_is_shown_beside_the_paper_but_not_measured_by_it(records: Records) -> None:
    add(records, Cell("lesion5-row", 0, "ELIMIPL"), [0.2, 0.3])
    text = page(records)
    assert "| ELIMIPL | .250±.050 | .433±.008 |  | 2 |" in text
    assert "paper, CRC-MIPL" in text
    assert "**.250" not in text


def test_attention_and_calibration_stand_beside_the_splits_that_recorded_them(records: Records) -> None:
    add(records, Cell("birdsong", 1, "RC-Mean"), [0.4])
    assert "Attention on positives" not in page(records)
    bags, more = {"sha256": ""}, {"calibration_error": 0.6, "attention_auroc": 0.85}
    records.add(Cell("birdsong", 1, "ELIMIPL"), Config(), bags, 0, {"accuracy": 0.7, "calibration_error": None})
    records.add(Cell("birdsong", 1, "ELIMIPL"), Config(), bags, 1, {"accuracy": 0.7, **more})
    assert "| 1 | ELIMIPL | 0.850 | – | – | – | 0.600 | 1 |" in page(records)


def test_text_written_by_hand_ends_the_page(records: Records) -> None:
    records.path.with_name("findings.md").write_text("## Why\n", encoding="utf-8")
    assert page(records).endswith("## Why\n")


def test_a_clear_lead_holds_and_a_clear_lag_is_told_as_reversed(records: Records) -> None:
    add(records, Cell("birdsong", 1, "ELIMIPL"), [0.80, 0.81, 0.82, 0.80, 0.81, 0.82])
    add(records, Cell("birdsong", 1, "DEMIPL"), [0.70, 0.70, 0.70, 0.70, 0.70, 0.70])
    add(records, Cell("birdsong", 1, "CE"), [0.90, 0.90, 0.90, 0.90, 0.90, 0.90])
    add(records, Cell("birdsong", 1, "CE-SP-IN"), [0.70, 0.92, 0.70, 0.92, 0.70, 0.92])
    add(records, Cell("birdsong", 1, "MA"), [0.1, 0.1, 0.1])
    verdicts = {test.title: test.verdict for claim in claims(records) for test in claim.tests}
    assert verdicts == {
        "ELIMIPL − DEMIPL, r = 1": "holds",
        "ELIMIPL − CE, r = 1": "reversed",
        "ELIMIPL − CE-SP-IN, r = 1": "open",
        "ELIMIPL − MA, r = 1": "too few splits",
    }
    assert "| Birdsong | ELIMIPL − DEMIPL, r = 1 | +.110 | +.027 | 6 | .031 |" in page(records)
    assert "| 3 | – | – | too few splits |" in page(records)


def test_only_splits_that_both_methods_ran_are_compared(records: Records) -> None:
    add(records, Cell("mnist", 1, "ELIMIPL"), [0.9, 0.8, 0.7])
    add(records, Cell("mnist", 1, "DEMIPL"), [0.5])
    (claim,) = claims(records)
    assert claim.tests[0].differences == pytest.approx((0.4,))


def test_a_growing_lead_is_the_slope_over_r_split_by_split(records: Records) -> None:
    for r in range(1, 11):
        add(records, Cell("birdsong", r, "ELIMIPL"), [0.5 + 0.01 * r, 0.5 + 0.02 * r, 0.5, 0.5 + 0.01 * r, 0.5])
        add(records, Cell("birdsong", r, "DEMIPL"), [0.5] * 5)
    growing = next(claim for claim in claims(records) if "grows" in claim.title)
    slope, halves = growing.tests
    assert slope.differences == pytest.approx((0.01, 0.02, 0, 0.01, 0), abs=1e-12)
    assert halves.differences == pytest.approx((0.05, 0.1, 0, 0.05, 0), abs=1e-12)
    assert slope.paper is None


def test_with_three_r_the_papers_slope_is_beside_ours(records: Records) -> None:
    for r in (1, 2, 3):
        add(records, Cell("birdsong", r, "ELIMIPL"), [0.5, 0.5])
        add(records, Cell("birdsong", r, "DEMIPL"), [0.4, 0.4])
    growing = next(claim for claim in claims(records) if "grows" in claim.title)
    assert growing.tests[0].paper == pytest.approx(((0.717 - 0.696) - (0.771 - 0.744)) / 2)


def test_wilcoxon_counts_the_signs_of_the_ranks() -> None:
    # Six differences of one sign: of 2^6 sign patterns one is as extreme at either end.
    assert wilcoxon_p([0.01, 0.02, 0.03, 0.04, 0.05, 0.06]) == pytest.approx(2 / 64)
    # The smallest rank has the other sign: W = 1, reached by 2 of 64 patterns at either end.
    assert wilcoxon_p([-0.01, 0.02, 0.03, 0.04, 0.05, 0.06]) == pytest.approx(4 / 64)
    assert wilcoxon_p([0.0] * 6) == 1.0


def test_the_correction_adds_the_overlap_to_the_ordinary_test() -> None:
    t = 2 / math.sqrt(1 / 3 + 3 / 7)
    assert corrected_t_p([1, 2, 3], 3 / 7) == pytest.approx(1 - t / math.sqrt(2 + t * t))
    t = 2 / math.sqrt(1 / 3)
    assert corrected_t_p([-1, -2, -3], 0.0) == pytest.approx(1 - t / math.sqrt(2 + t * t))
    assert corrected_t_p([0.0, 0.0, 0.0], 3 / 7) == 1.0
    assert corrected_t_p([0.5, 0.5, 0.5], 3 / 7) == 0.0


def add_means(records: Records, method: str, accuracies: dict[int, float]) -> None:
    for r, accuracy in accuracies.items():
        records.add(Cell("birdsong", r, method), Config(), {"sha256": ""}, 0, {"accuracy": accuracy})


def found(records: Records) -> list[str]:
    return [told for _, told in phenomena(records)]


def test_as_the_paper_has_it(records: Records) -> None:
    every = range(1, 11)
    add_means(records, "ELIMIPL", dict.fromkeys(every, 0.9))
    add_means(records, "DEMIPL", {r: 0.8 if r < 7 else 0.5 for r in every})
    add_means(records, "MIPLGP", dict.fromkeys(every, 0.7))
    assert found(records) == [
        "So it is here, at r = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10.",
        "So it is here, at r = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10.",
        "So it is here: +.340 against +.100 on average.",
    ]


def test_what_is_otherwise_and_what_was_not_run_is_told(records: Records) -> None:
    add_means(records, "ELIMIPL", {1: 0.9})
    add_means(records, "DEMIPL", {1: 0.8})
    told = "Not all of them have been run here."
    assert found(records) == [told, told, "Here not all r have been run."]
    every = range(1, 11)
    add_means(records, "ELIMIPL", {r: 0.7 if r == 2 else 0.9 - r / 100 for r in every})
    add_means(records, "DEMIPL", dict.fromkeys(every, 0.75))
    add_means(records, "MIPLGP", dict.fromkeys(every, 0.76))
    assert found(records) == [
        "So it is here at r = 1, 3, 4, 5, 6, 7, 8, 9, 10, not at r = 2.",
        "So it is here at r = 7, 8, 9, 10, not at r = 1, 2, 3, 4, 5, 6.",
        "Not so here: +.070 against +.084 on average.",
    ]
