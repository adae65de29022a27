"""A model that is missing, cut short, swapped, of another sum or a pickle: one sentence, and the other models serve."""

import json
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from bag_generators.errors import InputError
from elimipl.cards import files as model_file
from elimipl.predictor import Predictor
from tests.support.waiting import PATIENCE
from ui.frame import cached

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


def weights(folder: Path, name: str = BROKEN) -> Path:
    return folder / f"{name}.safetensors"


def change_sum(folder: Path) -> None:
    path = folder / f"{BROKEN}.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "sha256": "0" * 64}))


FAULTS: dict[str, tuple[Callable[[Path], object], str]] = {
    "missing": (lambda folder: weights(folder).unlink(), "are missing"),
    "cut short": (lambda folder: weights(folder).write_bytes(weights(folder).read_bytes()[:5000]), "is cut short"),
    "emptied": (lambda folder: weights(folder).write_bytes(b""), "is cut short"),
    "swapped": (lambda folder: shutil.copy(weights(folder, SOUND), weights(folder)), "swapped or changed"),
    "of another sum": (change_sum, "expects sha256 000000000000"),
    "a pickle": (lambda folder: weights(folder).write_bytes(pickle.dumps(print)), "pickle in disguise"),
    "a folder": (lambda folder: (weights(folder).unlink(), weights(folder).mkdir()), "can't be read"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_spoilt_model_is_refused_with_what_is_wrong(models, fault):
    spoil, said = FAULTS[fault]
    spoil(models)
    with pytest.raises(InputError) as refused:
        Predictor.load(BROKEN)
    assert said in refused.value.what


def test_the_page_says_what_is_wrong_and_the_other_model_serves(models):
    change_sum(models)
    page = AppTest.from_file(ROOT / "app.py", default_timeout=PATIENCE).run()
    assert not page.exception
    assert ["expects sha256 000000000000" in item.value for item in page.error] == [True]
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


@pytest.mark.parametrize("place", ["app.py", "pages/batch.py"])
def test_a_page_without_any_model_still_opens(models, place):
    shutil.rmtree(models)
    page = AppTest.from_file(ROOT / "app.py", default_timeout=PATIENCE)
    page = (page if place == "app.py" else page.switch_page(place)).run()
    assert not page.exception
    assert page.title[0].value in ("Explore", "Batch")
    assert "assets/models" in " ".join(item.value for item in (*page.error, *page.warning)).replace("\\", "")
