"""What one visitor can make the server keep or use is bounded."""

import ast
import gc
import re
import tomllib
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
from bag_generators.base.formats import MAX_BYTES, MAX_PIXELS, MOST_BATCH_BYTES, MOST_BATCH_FILES
from bag_generators.tissue.samples import list_samples
from elimipl.answers.predictor import Predictor
from elimipl_app.explore.analysis import View, ViewState, analyse
from elimipl_app.explore.picture_export import figure_png
from elimipl_app.inputs import gallery
from elimipl_app.server import upload_limit
from elimipl_app.server.upload_limit import UploadLimit

ROOT = Path(__file__).resolve().parents[3]
LARGE = 4000  # px


def rec(name: str, size: int) -> UploadedFileRec:
    return UploadedFileRec(file_id=name, name=name, type="image/png", data=bytes(size))


class Server:
    """A manager of uploads with limits of a few bytes, a clock to set, and visits to open and close."""

    def __init__(self) -> None:
        self.now, self.closed = 0.0, set()
        self.manager = MemoryUploadedFileManager("/upload")
        self.limit = UploadLimit(self.manager, lambda visit: visit not in self.closed, lambda: self.now)

    def add(self, visit: str, name: str, size: int) -> int:
        """Upload a file; 204, or the status of the refusal."""
        self.now += 1
        try:
            self.manager.add_file(visit, rec(name, size))
        except HTTPException as refusal:
            return refusal.status_code
        return 204

    def held(self) -> dict[str, list[str]]:
        return {visit: sorted(files) for visit, files in self.manager.file_storage.items() if files}


@pytest.fixture
def server(monkeypatch) -> Server:
    monkeypatch.setattr(upload_limit, "MOST_VISIT_BYTES", 1000)
    monkeypatch.setattr(upload_limit, "MOST_SERVER_BYTES", 2500)
    return Server()


def test_a_visit_can_not_upload_without_end(server):
    assert [server.add("visit", name, size) for name, size in (("a", 600), ("b", 401), ("c", 400))] == [204, 413, 204]
    assert [file.file_id for file in server.manager.get_files("visit", ["a", "b", "c"])] == ["a", "c"]


def test_a_removed_file_makes_room_and_visits_do_not_share(server):
    assert server.add("visit", "a", 900) == server.add("another", "a", 900) == 204
    server.manager.remove_file("visit", "a")
    assert server.add("visit", "b", 1000) == 204
    server.manager.remove_session_files("another")
    assert server.add("another", "c", 1000) == 204


def test_all_visits_together_can_not_upload_without_end(server):
    assert [server.add(visit, "a", 900) for visit in ("one", "two", "three")] == [204, 204, 413]
    assert server.held() == {"one": ["a"], "two": ["a"]}


def test_ended_visits_make_room_before_idle_ones_and_the_longest_unused_first(server):
    for visit in ("ended early", "ended late", "idle", "open"):
        assert server.add(visit, "a", 600) == 204
    server.closed |= {"ended early", "ended late"}
    server.manager.get_files("ended early", ["a"])
    assert server.add("new", "a", 600) == 204
    assert set(server.held()) == {"ended early", "idle", "open", "new"}
    server.now += upload_limit.IDLE_SECONDS - 10
    server.manager.get_files("open", ["a"])
    server.now += 20
    assert server.add("new", "b", 400) == 204
    assert set(server.held()) == {"idle", "open", "new"}
    assert server.add("newer", "a", 500) == 204
    assert set(server.held()) == {"open", "new", "newer"}
    assert server.limit.has_lost_uploads("idle")
    assert not server.limit.has_lost_uploads("idle")  # it is said once
    assert not server.limit.has_lost_uploads("open")


def test_a_visit_that_does_not_come_back_ends_and_one_that_does_stays(server):
    server.add("gone", "a", 10)
    server.add("back", "a", 10)
    server.closed |= {"gone", "back", "without uploads"}
    assert server.limit.ended(["without uploads"]) == []
    server.now += upload_limit.LEFT_SECONDS / 2
    server.closed.discard("back")
    assert server.limit.ended(["without uploads"]) == []
    server.closed.add("back")
    server.now += upload_limit.LEFT_SECONDS / 2
    assert sorted(server.limit.ended(["without uploads"])) == ["gone", "without uploads"]
    server.limit.forget("gone")
    assert server.held() == {"back": ["a"]}


def test_the_limits_fit_together():
    assert MOST_BATCH_BYTES + MAX_BYTES <= upload_limit.MOST_VISIT_BYTES
    assert 3 * upload_limit.MOST_VISIT_BYTES <= upload_limit.MOST_SERVER_BYTES
    settings = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    kept = settings["server"]["disconnectedSessionTTL"]
    assert kept > upload_limit.LEFT_SECONDS + 2 * upload_limit.SWEEP_SECONDS


def test_the_batch_page_takes_files_up_to_its_limits(monkeypatch):
    sample = list_samples()[0]
    data = (sample.folder / sample.file).read_bytes()
    monkeypatch.setattr("elimipl_app.batch.panel.MOST_BATCH_BYTES", 2 * len(data))
    page = AppTest.from_file(ROOT / "app.py", default_timeout=120).switch_page("pages/batch.py").run()
    page.file_uploader(key="batch").set_value([(f"{i}.png", data, "image/png") for i in range(4)]).run()
    assert not page.exception
    assert len(page.dataframe[0].value) == 2
    assert f"first 2 of 4 files are classified: at most {MOST_BATCH_FILES} files" in page.warning[0].value


def test_a_visit_keeps_the_last_decoded_pictures_and_lets_go_of_the_others(monkeypatch):
    monkeypatch.setattr(gallery, "MOST_KEPT", 2)
    page = AppTest.from_file(ROOT / "app.py", default_timeout=120).run()
    kept = []
    for sample in list_samples()[1:6]:
        data = (sample.folder / sample.file).read_bytes()
        page.file_uploader(key="upload").set_value((sample.file, data, "image/png")).run()
        kept.append(weakref.ref(page.session_state["kept_pictures"][page.session_state["shown_kept"]].image))
    gc.collect()
    assert len(page.session_state["kept_pictures"]) == 2
    # Streamlit itself holds on to callbacks of the run before and of the first run after the model changed.
    assert [one() is not None for one in kept[1:3]] == [False] * 2


def test_every_cache_of_what_visitors_bring_is_bounded():
    """A cache without arguments holds one thing; every other one says how many it holds."""
    unbounded = []
    for path in sorted((ROOT / "elimipl_app").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
            for decorator in map(ast.unparse, node.decorator_list):
                if re.search(r"cache_(data|resource)|lru_cache|functools\.cache|^cache$", decorator):
                    takes = node.args.args or node.args.kwonlyargs
                    if takes and "max_entries" not in decorator and "maxsize" not in decorator:
                        unbounded.append(f"{path.relative_to(ROOT)}: {node.name}")
    assert unbounded == []


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
    analysis = analyse(View(large), None, Predictor.load("tissue7-kmeansseg-elimipl"))
    tracemalloc.start()
    png = figure_png(analysis, ViewState())
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 3 * large.pixels.nbytes + 2 * len(png)


def test_the_largest_picture_is_bounded():
    assert 3 * MAX_PIXELS == 120_000_000  # bytes
