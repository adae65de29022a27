"""Decoded pictures are let go of: two at most live while somebody visits, none when nobody comes back to them."""

import asyncio
from collections.abc import Iterator

import cv2
import numpy as np
import pytest
import requests

from bag_generators.tissue.samples import list_samples
from tests.support.running_app import ROOT, running_app
from tests.support.simulated_visitor import Visitor

SIDE = 701  # px; no other picture is as high
APP = f"""
import gc
import streamlit as st
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from bag_generators import TissueImage
from elimipl_app.inputs import gallery
from elimipl_app.server import app as server, pixels, upload_limit, visitor

def live(request):
    if "collect" in request.query_params:
        gc.collect()
    found = [one.pixels for one in gc.get_objects() if isinstance(one, TissueImage)]
    return PlainTextResponse(f"{{len({{id(one) for one in found if len(one) == {SIDE}}})}} {{pixels.held_bytes()}}")

gallery.MOST_KEPT = 2  # as many as are kept of large pictures
upload_limit.LEFT_SECONDS, upload_limit.SWEEP_SECONDS, visitor.KEPT_SECONDS = 0.4, 0.1, 1.0
app = st.App(
    {str(ROOT / "app.py")!r}, lifespan=server.starting, middleware=server.MIDDLEWARE, routes=[Route("/live.txt", live)]
)
"""
OTHER_PAGES = ("slide", "compare", "results", "lesson", "train", "class", "doctor")


@pytest.fixture(scope="module")
def counted(tmp_path_factory) -> Iterator[str]:
    """The app with short times to wait for those who left, and where it says how many large pictures live."""
    script = tmp_path_factory.mktemp("app") / "counted.py"
    script.write_text(APP, encoding="utf-8")
    with running_app(script) as (address, _):
        yield address


def live(address: str, query: str = "?collect") -> tuple[int, int]:
    """How many large pictures live, and how many bytes the server thinks it holds of pictures."""
    pictures, held = requests.get(f"{address}/live.txt{query}", timeout=60).text.split()
    return int(pictures), int(held)


async def none_left(address: str) -> None:
    """Wait until every picture has gone; nobody visits meanwhile."""
    while live(address, query="") != (0, 0):  # the server itself lets go of them
        await asyncio.sleep(0.2)


def large_jpegs() -> Iterator[bytes]:
    tile = list_samples()[0].load().pixels
    times = SIDE // len(tile) + 1
    pixels = np.tile(tile, (times, times, 1))[:SIDE, :SIDE].copy()
    for number in range(256):
        pixels[:16, :16] = number
        yield cv2.imencode(".jpg", pixels[..., ::-1])[1].tobytes()


async def test_two_pictures_live_whatever_tab_and_page_is_looked_at_and_none_afterwards(counted):
    fresh = large_jpegs()
    async with Visitor(counted) as visitor:
        await visitor.run()
        await visitor.upload("upload", "a.jpg", next(fresh))
        for tab in visitor.tabs:
            await visitor.open_tab("below", tab)
            await visitor.upload("upload", "a.jpg", next(fresh))
            assert live(counted)[0] <= 2, tab
        for page in OTHER_PAGES:
            visitor.page = page
            await visitor.run()
            assert live(counted)[0] <= 2, page
    await none_left(counted)


@pytest.mark.parametrize(("page", "key"), [("generators", "upload"), ("batch", "batch")])
async def test_no_more_live_on_the_other_pages_that_take_pictures(counted, page, key):
    fresh = large_jpegs()
    async with Visitor(counted, page) as visitor:
        await visitor.run()
        for _ in range(3):
            await visitor.upload(key, "a.jpg", next(fresh))
            assert live(counted)[0] <= 2
    await none_left(counted)
