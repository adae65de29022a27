"""The Batch page: one row per file, whatever the files are."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from streamlit.testing.v1 import AppTest

from bag_generators.tissue.samples import list_samples
from elimipl.answers.predictor import Predictor
from elimipl.candidates.labels import TISSUE7
from elimipl.cards.limits import Limits
from elimipl.commands import main
from elimipl_app.batch.panel import comparison, summary
from elimipl_app.batch.rows import BatchRow, batch_csv, batch_json, batch_table, classify_files, compared
from elimipl_app.explore.analysis import View, analyse
from elimipl_app.shell.texts import sureness

ROOT = Path(__file__).resolve().parents[2]
RESTAINED = [sample for sample in list_samples() if sample.kind == "restained"]
GOOD = [(f"{sample.id}.png", (sample.folder / sample.file).read_bytes()) for sample in RESTAINED[:3]]
MIXED = [*GOOD[:2], ("=cmd|' /C calc'!A0.png", b"not a picture"), GOOD[2]]


@pytest.fixture(scope="module")
def rows():
    done = []
    return classify_files(MIXED, Predictor.load("tissue7-row-elimipl"), done.append)


def test_one_broken_file_never_stops_the_rest_and_the_files_hold_every_row(rows):
    assert [bool(row.refused) for row in rows] == [False, False, True, False]
    assert all(row.label and 0 < row.probability <= 1 for row in rows if not row.refused)
    assert rows[2].label == ""
    assert [row["file"] for row in json.loads(batch_json(rows))] == [row.file for row in rows]
    table = list(csv.DictReader(io.StringIO(batch_csv(rows))))
    assert table[2]["file"].startswith("'=cmd")
    assert "not an image" in table[2]["refused"]
    for row, cells in zip(rows, table, strict=True):
        assert (cells["model"], cells["sha256"], cells["label"]) == ("tissue7-row-elimipl", row.sha256, row.label)
        if not row.refused:
            assert sum(float(cells[f"p_{name}"]) for name in TISSUE7.names) == pytest.approx(1)
            assert float(cells[f"p_{row.label}"]) == pytest.approx(row.probability)
            assert cells["trusted"] == str(row.trusted)


def test_a_large_picture_gets_the_answer_that_predict_gives(rows, capsys):
    large = next(sample for sample in list_samples() if sample.id == "restained-section")
    row = next(row for row in rows if row.sha256 == large.sha256)
    assert main(["predict", "--model", "tissue7-row-elimipl", "--quiet", str(large.folder / large.file)]) == 0
    line = json.loads(capsys.readouterr().out)
    assert row.probabilities == line["probabilities"]
    assert (row.trusted, row.in_scope) == (line["trusted"], line["in_scope"])
    assert (row.microns_per_pixel, row.scale_origin) == (line["scale"]["microns_per_pixel"], line["scale"]["origin"])
    explored = analyse(View(large.load()), None, Predictor.load("tissue7-row-elimipl"), np.ones(7, bool))
    assert list(row.probabilities.values()) == explored.prediction.probabilities.tolist()


def test_explore_shows_the_same_answer_for_the_whole_of_a_large_file(rows):
    visit = AppTest.from_file(ROOT / "app.py", default_timeout=120)
    visit.query_params.update({"sample": "restained-crypt", "generator": "row", "labels": "tissue7", "whole": "true"})
    visit.run()
    name, data = GOOD[0]
    visit.file_uploader(key="upload").set_value((name, data, "image/png")).run()
    assert not visit.exception
    words = " ".join(str(item.value) for kind in ("markdown", "subheader", "caption") for item in visit.get(kind))
    assert rows[0].label in words
    assert sureness(rows[0].probability) in words


def test_names_that_carry_labels_are_compared_with_the_answers():
    tile = GOOD[1][1]
    named = [("TUM/a.png", tile), ("str-0001.png", tile), ("unlabelled.png", tile), ("NORM/b.png", b"broken")]
    rows = classify_files(named, Predictor.load("tissue7-row-elimipl"), lambda _done: None)
    assert [row.true_label for row in rows] == ["TUM", "STR", "", ""]
    found = compared(rows, TISSUE7)
    assert found.files == found.matrix.to_numpy().sum() == 2
    answered = [row for row in rows[:2] if not row.declined]
    assert (found.answered, found.right) == (len(answered), sum(row.label == row.true_label for row in answered))
    assert compared(rows[1:], TISSUE7) is None


def test_no_answer_agrees_with_no_name():
    row = BatchRow("x", true_label="TUM", label="TUM", declined=True, probabilities=dict.fromkeys(TISSUE7.names, 1 / 7))
    found = compared(
        [row, replace(row, declined=False, trusted=True), replace(row, declined=False, label="STR")], TISSUE7
    )
    assert (found.files, found.answered, found.right, found.trusted, found.trusted_right) == (3, 2, 1, 1, 1)
    assert found.matrix.loc["TUM"].to_dict() == {"STR": 1, "TUM": 1, "no answer": 1}
    assert "2 got an answer: **1** agree with the name (50%). 1 got none" in comparison(found)
    assert "None of them got an answer" in comparison(compared([row, row], TISSUE7))


def test_the_table_shows_titles_and_the_files_names(rows):
    titles = tuple(f"the {name}" for name in TISSUE7.names)
    titled = replace(TISSUE7, titles=titles)
    shown = batch_table(rows, titled)
    answered = [row for row in rows if row.label]
    assert all(f"the {row.label}" in answer for row, answer in zip(rows, shown["answer"], strict=True) if row.label)
    assert answered
    assert "the " not in batch_json(answered[:1]).partition('"notes"')[0]


def batch_page(**query: str) -> AppTest:
    page = AppTest.from_file(ROOT / "app.py", default_timeout=120).switch_page("pages/batch.py")
    page.query_params.update({"generator": "row", "labels": "tissue7", **query})
    return page.run()


def test_page_shows_a_table_that_survives_another_page_and_another_model():
    page = batch_page()
    assert not page.exception
    page.file_uploader(key="batch").set_value([(name, data, "image/png") for name, data in MIXED]).run()
    assert not page.exception
    assert any("3 of 4" in item.value for item in page.markdown)
    before = page.dataframe[0].value
    assert len(before) == 4
    assert before["thumbnail"][0].startswith("data:image/jpeg;base64,")
    assert page.button(key="open").disabled
    page.switch_page("pages/doctor.py").run()
    page.switch_page("pages/batch.py").run()
    assert not page.exception
    assert page.dataframe[0].value.equals(before)
    page.segmented_control(key="method").set_value("demipl").run()
    assert not page.exception
    assert page.session_state["batch_kept"].rows[0].model == "tissue7-row-demipl"
    page.button(key="forget-batch").click().run()
    assert not page.dataframe
    assert page.info


def test_a_row_opens_in_explore():
    page = batch_page()
    page.file_uploader(key="batch").set_value([(name, data, "image/png") for name, data in MIXED]).run()
    page.session_state["rows"] = {"selection": {"rows": [2], "columns": [], "cells": []}}
    assert page.run().button(key="open").disabled  # that one was refused
    page.session_state["rows"] = {"selection": {"rows": [1], "columns": [], "cells": []}}
    page.run().button(key="open").click().run()
    assert not page.exception
    assert page.session_state["address_page"] == "Explore"
    sha256 = page.session_state["batch_kept"].rows[1].sha256
    assert page.session_state["shown_kept"] == sha256
    assert (page.session_state["generator"], page.session_state["labels"]) == ("row", "tissue7")


def test_a_model_without_limits_says_not_checked():
    shipped = Predictor.load("tissue7-row-elimipl")
    unlimited = Predictor(shipped.network, shipped.scaler, replace(shipped.card, checks=Limits()))
    for row in classify_files(GOOD, unlimited, lambda _done: None):
        assert row.in_scope is None
        assert "Not checked" in row.notes
    assert "3 not checked for that" in summary(3, 0, 0, 3)


def test_a_model_with_limits_says_whether_they_hold_and_gives_no_answer_where_not(rows):
    assert [row.in_scope is None for row in rows] == [False, False, True, False]
    assert json.loads(batch_json(rows))[0]["in_scope"] is rows[0].in_scope
    flat = io.BytesIO()
    Image.new("RGB", (224, 224), (200, 120, 180)).save(flat, "PNG")
    (row,) = classify_files([("flat.png", flat.getvalue())], Predictor.load("tissue7-row-elimipl"), lambda _done: None)
    assert (row.in_scope, row.trusted, row.declined) == (False, False, True)
    table = batch_table([row], TISSUE7)
    assert table["answer"][0] == f"{row.headline.lower()} ({row.label})"
    assert "A typical pixel differs from its neighbours by 0 grey levels" in table["why"][0]


def test_a_scale_by_hand_holds_for_all_files():
    rows = classify_files(GOOD, Predictor.load("tissue7-row-elimipl"), lambda _done: None, microns_per_pixel=0.25)
    assert {(row.microns_per_pixel, row.scale_origin) for row in rows} == {(0.25, "by hand")}
    assert batch_table(rows, Predictor.load("tissue7-row-elimipl").card.label_space)["scale"][0] == "0.25, by hand"
