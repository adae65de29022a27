"""The Batch page: one row per file, whatever the files are."""

import csv
import io
import json
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from bag_generators.tissue.samples import list_samples
from elimipl.predictor import Predictor
from ui.batch.rows import batch_csv, batch_json, classify_files

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
