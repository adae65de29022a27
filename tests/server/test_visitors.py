"""Several visitors at one server: each sees its own picture, result, map and file, whatever the others do."""

import asyncio
import hashlib
import json

from benchmarks.bench_load import crowd, tile_png
from scripts.simulated_visitor import Visitor, visiting


def test_two_visitors_at_once_get_their_own_results(served):
    seen = visiting(crowd(served.address, [tile_png(11), tile_png(12)], rounds=4, thinking=(0.0, 0.05)))
    assert seen.errors == []
    assert seen.foreign == 0
    assert len(seen.seconds["export"]) == 8


def test_the_check_would_notice_the_picture_of_somebody_else(served, monkeypatch):
    own = hashlib.sha256
    monkeypatch.setattr("benchmarks.bench_load.hashlib.sha256", lambda data: own(data + b"other"))
    seen = visiting(crowd(served.address, [tile_png(13)], rounds=1, thinking=(0.0, 0.05)))
    assert seen.foreign == 1


def test_a_file_waits_to_be_fetched_though_others_go_on_working(served):
    async def visit() -> bytes:
        async with Visitor(served.address) as visitor, Visitor(served.address) as other:
            await visitor.run()
            await other.run()
            url = await visitor.build("download-json")
            for generator in ("Row", "SIFT", "KMeansSeg"):
                await other.choose("generator", generator)
            return await visitor.fetch(url)

    assert json.loads(visiting(visit()))["bag"]["generator"] == "deep"


def test_the_picture_taken_away_is_the_map_that_is_shown(served):
    async def visit() -> tuple[bytes, bytes, bytes]:
        async with Visitor(served.address) as visitor:
            await visitor.run("sample=Tumour+(phantom)")
            attention = await visitor.download("download-png")
            await visitor.choose("map", "Leave-one-out")
            influence = await visitor.download("download-png")
            await visitor.choose("map", "Attention")
            return attention, influence, await visitor.download("download-png")

    attention, influence, again = visiting(visit())
    assert attention != influence
    assert attention == again


def test_a_reload_keeps_the_training_and_nobody_else_gets_it(served):
    async def visit() -> str:
        async with Visitor(served.address, "train") as before:
            await before.run("train_epochs=500")
            await before.click("start")
            assert "stop" in before.elements
        after, stranger = Visitor(served.address, "train"), Visitor(served.address, "train")
        after.xsrf = before.xsrf
        async with after, stranger:
            while "stop" not in after.elements:  # until the server has noticed that the tab was closed
                await stranger.run("train_epochs=500")
                assert "stop" not in stranger.elements
                await after.run("train_epochs=500")
            await after.click("stop")
            while "stop" in after.elements and served.process.poll() is None:
                await asyncio.sleep(0.1)
                await after.run("train_epochs=500")
            return " ".join(after.texts)

    assert "Stopped " in visiting(visit())


def test_two_hundred_changes_of_the_page_by_one_visitor(served):
    pages = ["", "batch", "generators", "results", "compare", "doctor", "train", "lesson"]

    async def visit() -> int:
        async with Visitor(served.address) as visitor:
            await visitor.run()
            for number in range(200):  # the next change comes while the page is still running
                visitor.page = pages[number % len(pages)]
                await visitor.ask_to_run()
            visitor.page = ""
            await visitor.run()
            while "upload" not in visitor.elements:  # answers to changes before the last one
                await visitor.run()
            return len(visitor.elements)

    before = len(served.log.read_text(encoding="utf-8"))
    assert visiting(visit()) > 3
    assert "Traceback" not in served.log.read_text(encoding="utf-8")[before:]
    assert served.process.poll() is None


def test_the_log_tells_of_the_visits_in_lines_of_json(served):
    async def visit() -> None:
        async with Visitor(served.address) as visitor:
            await visitor.run()
            await visitor.upload("upload", "jane-doe.png", tile_png(14))
            await visitor.download("download-csv")

    before = len(served.log.read_text(encoding="utf-8"))
    visiting(visit())
    written = served.log.read_text(encoding="utf-8")[before:]
    lines = [json.loads(line) for line in written.splitlines() if line.startswith("{")]
    sha = hashlib.sha256(tile_png(14)).hexdigest()[:12]
    assert {line["event"] for line in lines if line.get("image") == sha} == {"load", "bag", "predict", "export"}
    assert "jane" not in written
    assert "Traceback" not in written
