"""A generator that somebody registered works on every page."""

import io
import zipfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from streamlit.testing.v1 import AppTest

from bag_generators import register
from bag_generators.registry import unregister
from bag_generators.tissue.phantom import draw
from tests.bag_generators.quadrants import GENERATOR
from tests.elimipl_app.figure_json import drawn_chart

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True, scope="module")
def _fifth():
    register(GENERATOR)
    yield
    unregister(GENERATOR.name)


def opened(page: str = "app.py", **query: str) -> AppTest:
    visit = AppTest.from_file(ROOT / "app.py", default_timeout=120)
    if page != "app.py":
        visit.switch_page(page)
    visit.query_params.update(query)
    return in_order(visit.run())


def in_order(visit: AppTest) -> AppTest:
    assert not visit.exception
    assert not visit.error
    return visit


def test_explore_says_that_no_model_reads_it_and_shows_the_bag():
    visit = opened(generator="Quadrants", sample="Tumour (phantom)")
    assert any("No model for this generator" in item.value for item in visit.warning)
    assert any("4 instances × 3 features" in item.value for item in visit.caption)
    assert drawn_chart(visit, "bag-alone")["data"][0]["name"] == "outlines"


def test_the_generators_page_shows_and_follows_it():
    visit = opened("pages/generators.py", sample="Tumour (phantom)", follow="Quadrants", instance="2")
    assert any("six ways" in item.value for item in visit.markdown)
    assert visit.segmented_control(key="follow").value == "quadrants"
    heat = next(trace for trace in drawn_chart(visit, "map-quadrants")["data"] if trace["type"] == "heatmap")
    assert heat["zmin"] == 0
    assert drawn_chart(visit, "station-1")["data"][0]["type"] == "image"
    assert drawn_chart(visit, "station-2")["data"][0]["type"] == "bar"
    assert any("It stands out in" in item.value for item in visit.caption)


@pytest.mark.parametrize("step", ["picture", "both", "attention"])
def test_the_lesson_cuts_a_drawing_with_it(step):
    visit = opened("pages/lesson.py", step=step, kind="drawn", cut="quadrants")
    assert visit.segmented_control(key="cut-widget").value == "quadrants"


def test_batch_says_that_no_model_reads_it_and_the_other_pages_open():
    visit = opened("pages/batch.py", generator="Quadrants")
    assert any("No model for this generator" in item.value for item in visit.warning)
    for page in ("compare", "results", "train", "doctor"):
        opened(f"pages/{page}.py")


def test_a_model_for_it_can_be_trained_and_then_reads_it_on_explore():
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as folder:
        for tissue in ("TUM", "STR", "MUC"):
            for seed in range(6):
                png = io.BytesIO()
                Image.fromarray(np.array(draw(tissue, seed=seed).pixels)).save(png, "PNG")
                folder.writestr(f"{tissue}/{seed}.png", png.getvalue())
    visit = opened("pages/train.py", train_data="Your own")
    visit.file_uploader(key="train_upload").set_value(("own.zip", archive.getvalue(), "application/zip")).run()
    visit.segmented_control(key="train_generator").set_value("quadrants").run()
    visit.toggle(key="train_slow").set_value(False)
    visit.number_input(key="train_epochs").set_value(2)
    in_order(visit.run())
    visit.button(key="start").click().run()
    visit.session_state["train_run"].join(120)
    in_order(visit.run())
    visit.switch_page("app.py")
    visit.session_state["generator"] = "quadrants"
    visit.session_state["model_origin"] = "trained"
    in_order(visit.run())
    assert drawn_chart(visit, "class-bars")["data"]
