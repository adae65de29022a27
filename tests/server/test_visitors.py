"""Several visitors at one server: each sees its own picture, result, map and file, whatever the others do."""

import asyncio
import hashlib
import json

from benchmarks.bench_load import crowd, tile_png
from tests.support.simulated_visitor import Visitor


async def test_two_visitors_at_once_get_their_own_results(served):
    seen = await crowd(served.address, [tile_png(11), tile_png(12)], rounds=4, thinking=(0.0, 0.05))
    assert seen.errors == []
    assert seen.foreign == 0
    assert len(seen.seconds["export"]) == 8


async def test_the_check_would_notice_the_picture_of_somebody_else(served, monkeypatch):
    own = hashlib.sha256
    monkeypatch.setattr("benchmarks.bench_load.hashlib.sha256", lambda data: own(data + b"other"))
    seen = await crowd(served.address, [tile_png(13)], rounds=1, thinking=(0.0, 0.05))
    assert seen.foreign == 1


async def test_a_file_waits_to_be_fetched_though_others_go_on_working(served):
    async with Visitor(served.address) as visitor, Visitor(served.address) as other:
        await visitor.run()
        await other.run()
        url = await visitor.build("download-json")
        for generator in ("Row", "SIFT", "KMeansSeg"):
            await other.choose("generator", generator)
        assert json.loads(await visitor.fetch(url))["bag"]["generator"] == "deep"


async def test_the_picture_taken_away_is_the_map_that_is_shown(served):
    async with Visitor(served.address) as visitor:
        await visitor.run("sample=Tumour+(phantom)")
        await visitor.choose("map", "Attention")
        attention = await visitor.download("download-png")
        await visitor.choose("map", "Leave-one-out")
        assert attention != await visitor.download("download-png")
        await visitor.choose("map", "Attention")
        assert attention == await visitor.download("download-png")


async def test_a_reload_keeps_the_training_and_nobody_else_gets_it(served):
    async with Visitor(served.address, "train") as before:
        await before.run("train_epochs=500")
        await before.click("start")
        assert "stop" in before.elements
    after, stranger = Visitor(served.address, "train"), Visitor(served.address, "train")
    after.cookies = before.cookies
    async with after, stranger:
        while "stop" not in after.elements:  # until the server has noticed that the tab was closed
            await stranger.run("train_epochs=500")
            assert "stop" not in stranger.elements
            await after.run("train_epochs=500")
        await after.click("stop")
        while "stop" in after.elements and served.process.poll() is None:
            await asyncio.sleep(0.1)
            await after.run("train_epochs=500")
        assert "Stopped " in " ".join(after.texts)


async def test_a_reload_keeps_the_pictures_and_another_tab_of_the_browser_leaves_them_alone(served):
    tiles, stranger = [tile_png(21), tile_png(22)], Visitor(served.address)
    mine, tab, after = (Visitor(served.address) for _ in range(3))
    tab.cookies = after.cookies = mine.cookies
    async with mine, tab:
        await mine.run()
        await tab.run()
        await mine.upload("upload", "a.png", tiles[0])
        await tab.choose("map", "Attention")
        await tab.upload("upload", "b.png", tiles[1])
    async with after, stranger:
        await after.run()
        await stranger.run()
    thumbnails = {f"thumb-{hashlib.sha256(tile).hexdigest()[:12]}" for tile in tiles}
    assert thumbnails <= set(after.elements)
    assert not thumbnails & set(stranger.elements)


async def test_two_hundred_changes_of_the_page_by_one_visitor(served):
    pages = ["", "batch", "generators", "results", "compare", "doctor", "train", "lesson"]
    before = len(served.log.read_text(encoding="utf-8"))
    async with Visitor(served.address) as visitor:
        await visitor.run()
        for number in range(200):  # the next change comes while the page is still running
            visitor.page = pages[number % len(pages)]
            await visitor.ask_to_run()
        visitor.page = ""
        await visitor.run()
        while "upload" not in visitor.elements:  # answers to changes before the last one
            await visitor.run()
        assert len(visitor.elements) > 3
    assert "Traceback" not in served.log.read_text(encoding="utf-8")[before:]
    assert served.process.poll() is None


async def test_the_log_tells_of_the_visits_in_lines_of_json(served):
    before = len(served.log.read_text(encoding="utf-8"))
    async with Visitor(served.address) as visitor:
        await visitor.run()
        await visitor.upload("upload", "jane-doe.png", tile_png(14))
        await visitor.download("download-csv")
    written = served.log.read_text(encoding="utf-8")[before:]
    lines = [json.loads(line) for line in written.splitlines() if line.startswith("{")]
    sha = hashlib.sha256(tile_png(14)).hexdigest()[:12]
    assert {line["event"] for line in lines if line.get("image") == sha} == {"load", "bag", "predict", "export"}
    assert "jane" not in written
    assert "Traceback" not in written
