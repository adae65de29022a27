"""What one visitor can make the server keep or use is bounded."""

import ast
import gc
import re
import tracemalloc
import weakref
from pathlib import Path

import numpy as np
import pytest
from starlette.exceptions import HTTPException
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec
from streamlit.testing.v1 import AppTest

from bag_generators import TissueImage, generate
from bag_generators.formats import MAX_BYTES, MAX_PIXELS, MOST_BATCH_BYTES, MOST_BATCH_FILES
from bag_generators.tissue.samples import list_samples
from elimipl.predictor import Predictor
from ui.explore.analysis import View, analyse
from ui.explore.exports.painted import painted_png
from ui.figures.score_scale import coloured
from ui.frame import upload_limit

ROOT = Path(__file__).resolve().parents[3]
LARGE = 4000  # px


def rec(name: str, size: int) -> UploadedFileRec:
    return UploadedFileRec(file_id=name, name=name, type="image/png", data=bytes(size))


@pytest.fixture
def manager(monkeypatch) -> MemoryUploadedFileManager:
    monkeypatch.setattr(upload_limit, "MOST_VISIT_BYTES", 1000)
    bounded = MemoryUploadedFileManager("/upload")
    upload_limit.bound(bounded)
    return bounded


def test_a_visit_can_not_upload_without_end(manager):
    manager.add_file("visit", rec("a", 600))
    with pytest.raises(HTTPException) as refusal:
        manager.add_file("visit", rec("b", 401))
    assert refusal.value.status_code == 413
    manager.add_file("visit", rec("c", 400))
    assert [file.file_id for file in manager.get_files("visit", ["a", "b", "c"])] == ["a", "c"]


def test_a_removed_file_makes_room_and_visits_do_not_share(manager):
    manager.add_file("visit", rec("a", 900))
    manager.add_file("another", rec("a", 900))
    manager.remove_file("visit", "a")
    manager.add_file("visit", rec("b", 1000))
    manager.remove_session_files("another")
    manager.add_file("another", rec("c", 1000))


def test_the_limits_fit_together():
    assert MOST_BATCH_BYTES + MAX_BYTES <= upload_limit.MOST_VISIT_BYTES


def test_the_batch_page_takes_files_up_to_its_limits(monkeypatch):
    sample = list_samples()[0]
    data = (sample.folder / sample.file).read_bytes()
    monkeypatch.setattr("ui.batch.panel.MOST_BATCH_BYTES", 2 * len(data))
    page = AppTest.from_file(ROOT / "app.py", default_timeout=120).switch_page("pages/batch.py").run()
    page.file_uploader(key="batch").set_value([(f"{i}.png", data, "image/png") for i in range(4)]).run()
    assert not page.exception
    assert len(page.dataframe[0].value) == 2
    assert f"first 2 of 4 files are classified: at most {MOST_BATCH_FILES} files" in page.warning[0].value


def test_a_visit_keeps_the_decoded_picture_in_view_and_at_most_the_one_before():
    page = AppTest.from_file(ROOT / "app.py", default_timeout=120).run()
    kept = []
    for sample in list_samples()[:5]:
        data = (sample.folder / sample.file).read_bytes()
        page.file_uploader(key="upload").set_value((sample.file, data, "image/png")).run()
        kept.append(weakref.ref(page.session_state["upload_seen"].image))
    gc.collect()
    assert [one() is not None for one in kept[:3]] == [False] * 3  # the fragments of the run before hold on to theirs


@pytest.mark.parametrize("path", sorted((ROOT / "ui").rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT)))
def test_every_cache_of_what_visitors_bring_is_bounded(path):
    """A cache without arguments holds one thing; every other one says how many it holds."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef):
            for decorator in map(ast.unparse, node.decorator_list):
                if re.search(r"cache_(data|resource)|lru_cache|functools\.cache|^cache$", decorator):
                    takes = node.args.args or node.args.kwonlyargs
                    assert not takes or "max_entries" in decorator or "maxsize" in decorator, node.name


@pytest.fixture(scope="module")
def large() -> TissueImage:
    tile = list_samples()[0].load().pixels
    times = LARGE // len(tile) + 1
    return TissueImage.from_array(np.tile(tile, (times, times, 1))[:LARGE, :LARGE])


@pytest.mark.parametrize("generator", ["row", "kmeansseg"])
def test_a_kept_bag_of_a_large_picture_is_small(large, generator):
    tracemalloc.start()
    bag = generate(generator, large)
    for point in ((10, 10), (3000, 3900)):
        bag.regions.at(*point)
    bag.regions.crop(large, 0)
    bag.regions.outline(0)
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held < 2**20


def test_painting_a_large_picture_takes_little_more_than_the_picture(large):
    analysis = analyse(View(large), None, Predictor.load("tissue7-kmeansseg-elimipl"), np.ones(7, bool))
    tracemalloc.start()
    png = painted_png(analysis, coloured(analysis.prediction.attention, "linear"), "Cividis")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 3 * large.pixels.nbytes + 2 * len(png)


def test_the_largest_picture_is_bounded():
    assert 3 * MAX_PIXELS == 120_000_000  # bytes
