"""Questions and their answers, from made-up results whose answers are known."""

from pathlib import Path

import pytest

from elimipl.benchmark.answers import answers, lead_sentence
from elimipl.benchmark.cells import Cell
from elimipl.benchmark.claims import leads
from elimipl.benchmark.records import Records
from elimipl.config import Config


@pytest.fixture
def records(tmp_path: Path) -> Records:
    return Records(tmp_path / "benchmark.json")


def add(records: Records, cell: Cell, accuracies: list[float], **more: float) -> None:
    for index, accuracy in enumerate(accuracies):
        kept = {"accuracy": accuracy, "train_bags": 70, "test_bags": 30, **more}
        records.add(cell, Config(), {"sha256": ""}, index, kept)


def said(records: Records, word: str) -> str:
    return next(answer.said for answer in answers(records) if word in answer.question)


def test_the_sentence_counts_what_is_clear_and_leaves_out_what_has_too_few_splits(records: Records) -> None:
    add(records, Cell("birdsong", 1, "ELIMIPL"), [0.80, 0.81, 0.82, 0.80, 0.81])
    add(records, Cell("birdsong", 1, "DEMIPL"), [0.70] * 5)
    add(records, Cell("mnist", 1, "ELIMIPL"), [0.9])
    add(records, Cell("mnist", 1, "DEMIPL"), [0.2])
    add(records, Cell("tissue7-row", 0, "ELIMIPL"), [0.5, 0.7, 0.5, 0.7, 0.6])
    add(records, Cell("tissue7-row", 0, "DEMIPL"), [0.6] * 5)
    sentence = lead_sentence("ELIMIPL", "DEMIPL", list(leads(records, "ELIMIPL", "DEMIPL")))
    assert "clearly better than DEMIPL in 1 of 2 rows (Birdsong, r = 1) and nowhere clearly worse" in sentence
    assert "On tissue no difference shows in 1 row." in sentence
    assert sentence.endswith("1 row has fewer than 5 splits and doesn't count.")
    turned = lead_sentence("DEMIPL", "ELIMIPL", list(leads(records, "DEMIPL", "ELIMIPL")))
    assert "in 0 of 2 rows and clearly worse in 1 (Birdsong, r = 1)." in turned
    few = [test for test in leads(records, "ELIMIPL", "DEMIPL") if test.data == "mnist"]
    assert lead_sentence("ELIMIPL", "DEMIPL", few).startswith("Nothing can be said")


def test_an_interval_is_the_corrected_t_tests_and_takes_three_splits(records: Records) -> None:
    add(records, Cell("birdsong", 1, "ELIMIPL"), [0.8, 0.9, 1.0])
    add(records, Cell("birdsong", 1, "DEMIPL"), [0.7, 0.7, 0.7])
    (test,) = leads(records, "ELIMIPL", "DEMIPL")
    reach = 4.302653 * (0.01 * (1 / 3 + 3 / 7)) ** 0.5  # t of .975 with two degrees of freedom
    assert test.interval == pytest.approx((0.2 - reach, 0.2 + reach))
    add(records, Cell("birdsong", 2, "ELIMIPL"), [0.8, 0.9])
    add(records, Cell("birdsong", 2, "DEMIPL"), [0.7, 0.7])
    assert list(leads(records, "ELIMIPL", "DEMIPL"))[1].interval is None


def test_the_questions_are_answered_with_the_records_own_numbers(records: Records) -> None:
    assert answers(records) == []
    found = {"attention_auroc": 0.85, "untrained_attention_auroc": 0.6}
    add(records, Cell("birdsong", 1, "ELIMIPL"), [0.78, 0.80, 0.79, 0.77, 0.78], **found)
    add(records, Cell("birdsong", 1, "CE"), [0.6] * 5)
    add(records, Cell("birdsong", 1, "CDL-SAM-CN"), [0.9] * 5, **(found | {"attention_auroc": 0.9}))
    assert "Birdsong, r = 1 +.184 (the paper: +.067), holds" in said(records, "cross-entropy")
    assert "0.85 for ELIMIPL, 0.90 for CDL-SAM-CN, the best of 2 methods," in said(records, "attention")
    assert "the network has 0.60." in said(records, "attention")
    assert "Birdsong, r = 1 CDL-SAM-CN 0.900 (+.116 on ELIMIPL, holds)" in said(records, "best")
    for data, shift in (("crc-row", 0.0), ("lesion5-row", 0.1)):
        add(records, Cell(data, 0, "ELIMIPL"), [0.5 + shift] * 3)
        add(records, Cell(data, 0, "ELIMIPL-entropy"), [0.6 + shift] * 2)
    add(records, Cell("crc-row", 0, "ABMIL"), [0.99] * 2)  # not run everywhere
    assert said(records, "tissue").startswith("ELIMIPL-entropy: 0.650 on average over 2 sets of tissue bags")
    assert "only the lesions are tested on other slides" in said(records, "tissue")
