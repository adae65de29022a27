"""The Batch page: one row per file, whatever the files are."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from bag_generators.tissue.samples import list_samples
from elimipl.cards.limits import Limits
from elimipl.predictor import Predictor
from ui.batch.rows import batch_csv, batch_json, classify_files
from ui.batch.texts import summary

ROOT = Path(__file__).resolve().parents[2]
GOOD = [(f"{sample.id}.png", (sample.folder / sample.file).read_bytes()) for sample in list_samples()[:3]]
MIXED = [*GOOD[:2], ("=cmd|' /C calc'!A0.png", b"not a picture"), GOOD[2]]


@pytest.fixture(scope="module")
def rows():
    done = []
    return classify_files(MIXED, Predictor.load("tissue7-row-elimipl"), done.append)


def test_one_broken_file_never_stops_the_rest(rows):
    assert [bool(row.refused) for row in rows] == [False, False, True, False]
    assert all(row.label and 0 < row.probability <= 1 for row in rows if not row.refused)
    assert rows[2].label == ""


def test_csv_defuses_formulas_and_keeps_the_reason(rows):
    table = list(csv.DictReader(io.StringIO(batch_csv(rows))))
    assert table[2]["file"].startswith("'=cmd")
    assert "not an image" in table[2]["refused"]
    assert table[0]["label"] == rows[0].label


def test_json_holds_the_same_rows(rows):
    assert [row["file"] for row in json.loads(batch_json(rows))] == [row.file for row in rows]


def test_page_shows_a_table_and_the_counts():
    page = AppTest.from_file(ROOT / "app.py", default_timeout=120).switch_page("pages/batch.py").run()
    assert not page.exception
    page.file_uploader(key="batch").set_value([(name, data, "image/png") for name, data in MIXED]).run()
    assert not page.exception
    assert any("3 of 4" in item.value for item in page.markdown)
    assert len(page.dataframe[0].value) == 4


def unlimited(model_id: str) -> Predictor:
    shipped = Predictor.load(model_id)
    return Predictor(shipped.network, shipped.scaler, replace(shipped.card, checks=Limits()))


def test_a_model_without_limits_says_not_checked():
    for row in classify_files(GOOD, unlimited("tissue7-row-elimipl"), lambda _done: None):
        assert row.in_scope is None
        assert "Not checked" in row.notes
    assert "3 not checked for that" in summary(3, 0, 0, 3)


def test_a_model_with_limits_says_whether_they_hold(rows):
    assert [row.in_scope for row in rows] == [False, False, None, False]  # re-stained pictures have computed colours
    assert json.loads(batch_json(rows))[0]["in_scope"] is False
