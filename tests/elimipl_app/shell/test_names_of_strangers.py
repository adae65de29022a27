"""Names of files and classes are strangers' text: nowhere do they become a formula, markup, a link or a path."""

import csv
import dataclasses
import io
import json
import re
import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from bag_generators import InputError, TissueImage
from bag_generators.base.errors import LONGEST_SENTENCE, shown_name
from bag_generators.tissue.samples import list_samples
from elimipl.answers.predictor import Predictor
from elimipl.candidates.labels import LabelSpace
from elimipl.cards.files import find_card
from elimipl.datasets.shipped import load_bag_set
from elimipl_app.batch.rows import BatchRow, batch_csv, batch_json, batch_table
from elimipl_app.charts.bars import class_bars
from elimipl_app.charts.tissue import add_click_targets, picture_figure
from elimipl_app.explore.analysis import Analysis, CandidateSet, View, ViewState, analyse
from elimipl_app.explore.answer import bar_groups
from elimipl_app.explore.exports import geojson, provenance_json
from elimipl_app.explore.maps import share_layer
from elimipl_app.explore.report import html_report
from elimipl_app.shell.markdown import WORD_JOINER, escape, option_text
from elimipl_app.shell.palette import LIGHT
from elimipl_app.train.figures import weight_bars
from tests.support.bad_inputs import NASTY_NAMES

ROOT = Path(__file__).resolve().parents[3]
CLASSES = (
    "<img src=x onerror=alert(1)>",
    "<a href='http://example.com'>T</a>",
    "=cmd|'/c calc'!A1",
    "![p](http://example.com/p.png)",
    ":red[:material/home:] $x$ `c` **b** ~~s~~",
    "%{customdata} &lt;b&gt; www.example.com a@example.org",
    "</script><script>alert(1)</script>",
)
NASTY = LabelSpace.of(CLASSES, id="nasty")


@pytest.fixture(scope="module")
def model() -> Predictor:
    """The Row model with other names for its seven classes."""
    shipped = Predictor.load("tissue7-row-elimipl")
    return Predictor(shipped.network, shipped.scaler, dataclasses.replace(shipped.card, label_space=NASTY))


@pytest.fixture(scope="module")
def analysis(model) -> Analysis:
    image = next(sample for sample in list_samples() if sample.id == "phantom-deb").load()
    image = TissueImage(image.pixels, image.sha256, ("<script>alert(1)</script>",))
    return analyse(View(image), None, model, CandidateSet(np.array([True, False] * 3 + [True]), "hand"))


@pytest.fixture(scope="module")
def rows() -> list[BatchRow]:
    named = [
        BatchRow(
            shown_name(name),
            label=CLASSES[i % 7],
            label_set=CLASSES,
            probabilities=dict.fromkeys(CLASSES, 1 / 7),
            notes=shown_name(name),
        )
        for i, name in enumerate(NASTY_NAMES)
    ]
    return [*named, BatchRow("last.png", refused="=1+1")]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_no_cell_of_the_batch_table_begins_a_formula(rows, delimiter):
    """Whatever a spreadsheet takes for the end of a cell, and whether or not it cuts blanks."""
    saved_by_streamlit = batch_table(rows, NASTY).drop(columns="thumbnail").to_csv()
    text = batch_csv(rows) + saved_by_streamlit
    cells = [cell for line in csv.reader(io.StringIO(text), delimiter=delimiter) for cell in line]
    assert [cell for cell in cells if cell.strip().startswith(("=", "+", "-", "@"))] == []


@pytest.mark.parametrize(
    "unseen", ["\u200b", "\ufeff", "\u2060\u200d", "\ufe0f", "\u3164", "\u034f ", "\u00ad", "\U000e0041"], ids=ascii
)
@pytest.mark.parametrize("sign", "=+-@＝")
def test_characters_nobody_sees_hide_no_formula(unseen, sign):
    table = batch_csv([BatchRow(f"{unseen}{sign}1+1", notes=f"a;{unseen}{sign}1")])
    row = next(csv.DictReader(io.StringIO(table)))
    assert row["file"] == f"{unseen}'{sign}1+1"
    assert row["notes"] == f"a;{unseen}'{sign}1"


def test_batch_table_keeps_one_line_a_file_and_every_value(rows):
    table = list(csv.DictReader(io.StringIO(batch_csv(rows))))
    assert len(table) == len(rows)
    assert [row["file"].replace("'", "") for row in table] == [row.file.replace("'", "") for row in rows]
    assert [json.loads(batch_json(rows))[i]["file"] for i in range(len(rows))] == [row.file for row in rows]


@pytest.mark.parametrize("name", NASTY_NAMES, ids=ascii)
def test_shown_names_are_one_short_line(name):
    shown = shown_name(name)
    assert len(shown) <= 80
    assert shown.isprintable()
    shown.encode()


@pytest.mark.parametrize("name", NASTY_NAMES, ids=ascii)
def test_a_sentence_that_quotes_a_name_is_one_bounded_line(name):
    said = InputError(f"There is no “{name * 50}”.", f"Look for {name}.")
    assert str(said).isprintable()
    assert len(said.what) <= LONGEST_SENTENCE


class Page(HTMLParser):
    """Collects the tags of a page and everything it would load or run."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.addresses: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attributes}
        self.addresses += [value for name, value in attributes if name in ("src", "href")]


def test_the_report_shows_names_as_text(analysis):
    page = Page(html_report(analysis, ViewState()))
    assert not page.tags & {"script", "a", "iframe", "object"}
    assert not {name for name in page.attributes if name.startswith("on")}
    assert all(address.startswith("data:image/png;base64,") for address in page.addresses)


def test_geojson_and_provenance_hold_the_names_as_they_are(analysis):
    features = json.loads(geojson(analysis, ViewState()))["features"]
    assert {feature["properties"]["classification"]["name"] for feature in features} <= set(CLASSES)
    assert {f["properties"]["metadata"]["answer for the picture"] for f in features} == {analysis.prediction.label}
    assert set(json.loads(provenance_json(analysis, ViewState()))["prediction"]["probabilities"]) == set(CLASSES)


def texts(values) -> list[str]:
    """Every text somewhere in a figure."""
    if isinstance(values, dict):
        return [text for value in values.values() for text in texts(value)]
    if isinstance(values, list | tuple):
        return [text for value in values for text in texts(value)]
    return [values] if isinstance(values, str) else []


def test_no_figure_takes_a_name_for_markup(analysis):
    probabilities = analysis.prediction.probabilities
    groups = bar_groups(analysis, analysis.answer_without(())[1], LIGHT)
    titled = picture_figure(analysis.image)
    for name in CLASSES:
        share_layer(analysis.bag, analysis.prediction.attention, name, "Teal").add_to(titled, 0.6)
        add_click_targets(titled, analysis.bag, analysis.prediction.attention, LIGHT, name)
    figures = [
        class_bars(probabilities, NASTY, groups, LIGHT, before=probabilities),
        weight_bars(np.eye(7), np.ones((7, 7), bool), np.arange(7), NASTY, LIGHT),
        titled,
    ]
    for figure in figures:
        found = texts(json.loads(figure.to_json()))
        assert any("&lt;img" in text for text in found)
        assert [text for text in found if "<img" in text or "<a " in text or "<script" in text] == []
        assert [text for text in found if "%{customdata} &" in text] == []


@pytest.mark.parametrize("name", [*NASTY_NAMES, *CLASSES], ids=ascii)
def test_markdown_begins_nothing_in_a_name(name):
    for told, marks in ((escape(name), r"`*_[]<>$:!&"), (option_text(name), r"`*[]<>$:&")):
        plain = told.replace("\\\\", "")
        assert not any(letter in marks and plain[place - 1 : place] != "\\" for place, letter in enumerate(plain))
        assert not re.search(r"(?i)://|www\.|@\w|:material/", told.replace("\\", ""))
    if not set(name) & set("\\"):
        assert escape(name).replace("\\", "").replace(WORD_JOINER, "") == name


def test_ordinary_class_names_stand_in_a_link_as_they_are():
    assert [option_text(name) for name in ("TUM", "serrated_adenoma", "grade 2-3")] == [
        "TUM", "serrated_adenoma", "grade 2-3",
    ]  # fmt: skip


def test_explore_shows_a_model_with_such_classes(model):
    page = AppTest.from_file(ROOT / "app.py", default_timeout=120)
    page.session_state["trained_models"] = {"mine": model}
    page.session_state["model_origin"] = "trained"
    page.session_state["generator"] = "row"
    page.run()
    assert not page.exception
    pills = next(item for item in page.pills if str(item.key).startswith("candidates_nasty_"))
    assert pills.options == [option_text(name) for name in CLASSES]
    pills.set_value(list(CLASSES)).run()
    assert not page.exception
    shown = [item.value for item in (*page.markdown, *page.caption, *page.subheader, *page.warning, *page.info)]
    assert [text for text in shown if "<img" in text.replace("\\<", "") or "![p]" in text] == []


OPENED: list[str] = []
WATCHING = False


def _watch(event: str, arguments: tuple) -> None:
    if WATCHING and event in ("open", "os.listdir", "os.scandir", "os.mkdir", "os.remove", "os.rename"):
        OPENED.extend(str(argument) for argument in arguments)


sys.addaudithook(_watch)  # a hook can't be taken away again, so it asks whether anybody wants to know


def test_no_path_is_ever_made_of_what_a_visitor_sends(monkeypatch):
    mark = "s7r4nger"
    monkeypatch.setattr(sys.modules[__name__], "WATCHING", True)
    page = AppTest.from_file(ROOT / "app.py", default_timeout=120)
    for key in ("sample", "generator", "labels", "method", "map", "colours", "candidates_from"):
        page.query_params[key] = f"../../{mark}/{key}"
    page.run()
    data = (list_samples()[0].folder / list_samples()[0].file).read_bytes()
    page.file_uploader(key="upload").set_value((f"../../{mark}/passwd.png", data, "image/png")).run()
    assert not page.exception
    page.switch_page("pages/batch.py").run()
    page.file_uploader(key="batch").set_value([(f"/etc/{mark}.png", data, "image/png")]).run()
    assert not page.exception
    for look_up in (find_card, load_bag_set):
        with pytest.raises(InputError, match="There is no"):
            look_up(f"../../{mark}")
    assert OPENED
    assert [path for path in OPENED if mark in path] == []
