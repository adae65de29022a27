"""Some of the bad inputs on the Explore page and, all at once, on the Batch page; the loader's tests have them all.

The person gets the promised sentence, never a traceback; what was shown before a refused upload stays.
"""

import json
from functools import cache
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from bag_generators.tissue.samples import list_samples
from elimipl.answers.answer import NO_ANSWER, NONE_OF_THESE
from elimipl.answers.predictor import Predictor
from elimipl_app.batch.rows import batch_json, classify_files
from elimipl_app.inputs.picture import STILL_SHOWN
from tests.support.bad_inputs import INPUTS, BadInput, Outcome

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = next(sample for sample in list_samples() if sample.id == "phantom-deb")
SOUND = (SAMPLE.folder / SAMPLE.file).read_bytes()


def of(*outcomes: Outcome, most: int = 3) -> list[BadInput]:
    """A few rows of each outcome, with different sentences: the page does the same with all others."""
    rows = ({row.says or row.name: row for row in INPUTS if row.outcome is outcome} for outcome in outcomes)
    return [row for said in rows for row in list(said.values())[:most]]


@cache
def content(row: BadInput) -> bytes:
    return row.make()


def plain(text: str) -> str:
    """Without the marks of Markdown, and those that keep it from taking strangers' text for its own."""
    return text.replace("\\", "").replace("**", "")


@pytest.fixture(scope="module")
def page() -> AppTest:
    """One visitor for the whole table."""
    return AppTest.from_file(ROOT / "app.py", default_timeout=120).run()


def upload(page: AppTest, data: bytes, name: str = "picture.png") -> None:
    page.file_uploader(key="upload").set_value((name, data, "image/png")).run()
    assert not page.exception


def bars(page: AppTest) -> list:
    chart = next(item for item in page.get("plotly_chart") if item.key == "class-bars")
    return json.loads(chart.proto.spec)["data"]


def test_a_refused_upload_gets_its_sentence_and_what_was_shown_stays(page):
    upload(page, SOUND)
    before = bars(page)
    for row in of(Outcome.REFUSED, Outcome.UNFIT):
        upload(page, content(row), row.name)
        assert [row.name for error in page.error if row.says not in plain(error.value)] == []
        assert len(page.error) == 1, row.name
        assert any(item.value == STILL_SHOWN for item in page.caption), row.name
        assert bars(page) == before, row.name
    upload(page, SOUND)
    assert not page.error
    assert bars(page) == before


def test_a_refused_first_upload_leaves_the_samples_within_reach():
    page = AppTest.from_file(ROOT / "app.py", default_timeout=120).run()
    before = bars(page)
    upload(page, b"no picture")
    assert bars(page) == before
    assert not page.selectbox(key="sample").disabled
    page.selectbox(key="sample").set_value("phantom-lym").run()
    assert bars(page) != before
    assert len(page.error) == 1


def test_a_removed_upload_is_not_shown_again_after_a_refused_one(page):
    page.file_uploader(key="upload").set_value(None).run()
    page.selectbox(key="sample").set_value("phantom-lym").run()
    sample = bars(page)
    upload(page, SOUND)
    assert bars(page) != sample
    page.file_uploader(key="upload").set_value(None).run()
    assert bars(page) == sample
    page.run()
    upload(page, b"no picture")
    assert bars(page) == sample


def test_a_browser_takes_the_old_file_away_before_it_sends_the_new_one(page):
    upload(page, SOUND)
    before = bars(page)
    page.file_uploader(key="upload").set_value(None).run()
    assert bars(page) != before
    upload(page, b"no picture")
    assert bars(page) == before


def test_what_was_converted_is_noted_and_nothing_else(page):
    for row in of(Outcome.NOTED, Outcome.TAKEN):
        upload(page, content(row), row.name)
        assert not page.error, row.name
        assert bool(page.info) == bool(row.says), row.name
        assert any(row.says in plain(item.value) for item in page.info) or not row.says, row.name
        assert bars(page), row.name


def test_what_is_no_tissue_gets_no_answer_and_the_reason(page):
    for row in of(Outcome.DOUBTED, most=9):
        upload(page, content(row), row.name)
        assert not page.error, row.name
        if row.name == "white.png":  # bare glass is one of the colon's classes
            assert any(item.value.startswith("Glass without tissue") for item in page.subheader)
            continue
        assert any(item.value in (NONE_OF_THESE, NO_ANSWER) for item in page.subheader), row.name
        reasons = [plain(item.value) for item in page.caption]
        assert any(row.says in text for text in reasons), (row.name, reasons)


@pytest.fixture(scope="module")
def everything() -> list[tuple[str, bytes]]:
    """All rows but the two that are too large to be uploaded, with a sound picture at both ends."""
    rows = [(row.name, content(row)) for row in INPUTS if len(content(row)) <= 2**20]
    return [("first.png", SOUND), *rows, ("last.png", SOUND)]


def test_one_broken_file_never_stops_the_rest(everything):
    done: list[int] = []
    rows = classify_files(everything, Predictor.load("tissue7-row-elimipl"), done.append)
    assert done == list(range(1, len(everything) + 1))
    expected = {row.name: row for row in INPUTS}
    for row in rows[1:-1]:
        wanted = expected[row.file]
        refused = wanted.outcome in (Outcome.REFUSED, Outcome.UNFIT)
        assert bool(row.refused) == refused, row
        assert wanted.says in (row.refused if refused else row.notes), row
        assert (row.in_scope is False) or wanted.outcome is not Outcome.DOUBTED, row
    assert rows[0].label == rows[-1].label != ""
    assert len(json.loads(batch_json(rows))) == len(everything)


def test_the_batch_page_shows_a_row_for_everything(everything):
    page = AppTest.from_file(ROOT / "app.py", default_timeout=120).switch_page("pages/batch.py").run()
    files = [(name, data, "image/png") for name, data in everything[::4]]
    page.file_uploader(key="batch").set_value(files).run()
    assert not page.exception
    assert len(page.dataframe[0].value) == len(files)
    page.file_uploader(key="batch").set_value([*files, ("one more.png", b"broken", "image/png")]).run()
    assert not page.exception
    assert len(page.dataframe[0].value) == len(files) + 1
