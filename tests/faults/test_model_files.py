"""A model that is swapped, or whose card is spoilt: one sentence on the page, and the other models serve."""

import shutil
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from elimipl.cards import files as model_file
from elimipl_app.shell import cached
from tests.support.waiting import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
BROKEN, SOUND = "tissue7-sbn-elimipl", "tissue7-sbn-demipl"


@pytest.fixture
def models(tmp_path, monkeypatch) -> Path:
    """A folder with two models for one generator, taken for the one that ships."""
    folder = tmp_path / "models"
    folder.mkdir()
    for name in (BROKEN, SOUND):
        for ending in (".json", ".safetensors"):
            shutil.copy(model_file.SHIPPED / f"{name}{ending}", folder)
    monkeypatch.setattr(model_file, "SHIPPED", folder)
    cached.predictor.clear()
    yield folder
    cached.predictor.clear()


def test_the_page_says_what_is_wrong_and_the_other_model_serves(models):
    shutil.copy(models / f"{SOUND}.safetensors", models / f"{BROKEN}.safetensors")
    page = AppTest.from_file(ROOT / "app.py", default_timeout=PATIENCE).run()
    assert not page.exception
    assert ["swapped or changed" in item.value for item in page.error] == [True]
    page.segmented_control(key="method").set_value("demipl").run()
    assert not page.exception
    assert not page.error
    assert page.get("plotly_chart")


def test_a_spoilt_card_hides_its_own_model_only(models):
    (models / f"{BROKEN}.json").write_text("{")
    page = AppTest.from_file(ROOT / "app.py", default_timeout=PATIENCE).run()
    assert not page.exception
    assert len(page.error) == 1
    assert f"{BROKEN}.json" in page.error[0].value.replace("\\", "")
    assert page.segmented_control(key="method").options == ["DEMIPL"]
    assert page.get("plotly_chart")


def test_pages_without_any_model_still_open(models):
    shutil.rmtree(models)
    page = AppTest.from_file(ROOT / "app.py", default_timeout=PATIENCE)
    for place, title in (("app.py", "Explore"), ("pages/batch.py", "Batch")):
        page.switch_page(place).run()
        assert not page.exception
        assert page.title[0].value == title
        assert "assets/models" in " ".join(item.value for item in (*page.error, *page.warning)).replace("\\", "")
