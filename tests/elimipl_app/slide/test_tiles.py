"""Tiles of a slide over HTTP: right pixels, keys that nobody can guess, nothing for strangers."""

import asyncio
import io
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np
import pytest
from PIL import Image
from starlette.applications import Starlette

from elimipl_app.server.app import MIDDLEWARE, answered_by
from elimipl_app.slide import tiles
from elimipl_app.slide.tiles import TILE, TileServer, levels


@dataclass
class Gradient:
    """A slide whose colours say where a pixel is."""

    id: str = "gradient"
    width: int = 1000
    height: int = 600
    read: list[tuple[int, int, int, int]] = field(default_factory=list)

    def shrunken(self, x: int, y: int, size: int, by: int) -> np.ndarray:
        self.read.append((x, y, size, by))
        rows, columns = np.mgrid[0:size, 0:size] * by
        return np.stack([(columns + x) // 4, (rows + y) // 4, np.zeros_like(rows)], axis=-1).astype(np.uint8)


def opened(tile: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(tile))).astype(int)


@pytest.mark.parametrize(("level", "column", "row"), [(0, 0, 0), (0, 3, 2), (1, 1, 1), (2, 0, 0)])
def test_a_tile_shows_its_place(level, column, row):
    server = TileServer()
    tile = opened(server.tile(server.serve("me", Gradient()), level, column, row))
    assert tile.shape == (TILE, TILE, 3)
    left, top = column * TILE << level, row * TILE << level
    middle = tile[TILE // 2, TILE // 2]
    assert middle[0] == pytest.approx((left + (TILE // 2 << level)) // 4 % 256, abs=4)
    assert middle[1] == pytest.approx((top + (TILE // 2 << level)) // 4 % 256, abs=4)


@pytest.mark.parametrize(("width", "height", "expected"), [(1, 1, 1), (256, 256, 1), (257, 1, 2), (40_000, 1000, 9)])
def test_the_last_level_is_one_tile(width, height, expected):
    assert levels(width, height) == expected
    assert max(width, height) <= TILE << (expected - 1)


@pytest.mark.parametrize("place", [(3, 0, 0), (-1, 0, 0), (0, 4, 0), (0, 0, 3), (0, -1, 0)])
def test_there_is_no_tile_beside_the_slide(place):
    server, slide = TileServer(), Gradient()
    with pytest.raises(KeyError):
        server.tile(server.serve("me", slide), *place)
    assert slide.read == []


def test_every_visitor_has_a_key_of_their_own_that_can_not_be_guessed():
    server, slide = TileServer(), Gradient()
    mine, yours = server.serve("me", slide), server.serve("you", slide)
    assert mine != yours
    assert min(len(mine), len(yours)) >= 32
    assert server.serve("me", slide) == mine
    with pytest.raises(KeyError):
        server.tile(mine[:-1], 0, 0, 0)


def test_a_tile_is_made_once_and_forgotten_when_there_is_no_room():
    server, slide = TileServer(most_bytes=30_000), Gradient()
    key = server.serve("me", slide)
    assert server.tile(key, 0, 0, 0) == server.tile(key, 0, 0, 0)
    assert len(slide.read) == 1
    for column in range(4):
        for row in range(3):
            server.tile(key, 0, column, row)
    read = len(slide.read)
    server.tile(key, 0, 0, 0)
    assert len(slide.read) == read + 1


def test_slides_opened_first_make_room():
    server = TileServer(most_served=2)
    keys = [server.serve("me", Gradient(id=name)) for name in "abc"]
    with pytest.raises(KeyError):
        server.tile(keys[0], 0, 0, 0)
    assert server.tile(keys[2], 0, 0, 0)


def get(app: Starlette, path: str, host: str = "localhost:8501") -> tuple[int, dict[str, str], bytes]:
    """What the app answers."""
    sent: list[dict] = []

    async def receive() -> dict:
        return {"type": "http.request"}

    async def send(message: dict) -> None:
        sent.append(message)

    scope = {
        "type": "http", "method": "GET", "path": path, "raw_path": path.encode(), "query_string": b"", "root_path": "",
        "headers": [(b"host", host.encode())], "http_version": "1.1", "scheme": "http",
    }  # fmt: skip
    # In a thread of its own: browser tests that ran before leave an event loop running in this one.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(lambda: asyncio.run(app(scope, receive, send))).result()
    headers = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], headers, b"".join(message.get("body", b"") for message in sent[1:])


@pytest.fixture
def served(monkeypatch):
    """An app with the route, and the key of a slide."""
    monkeypatch.setattr("streamlit.config.get_option", {"server.allowedHosts": ["localhost"]}.get)
    server = TileServer()
    monkeypatch.setattr(tiles, "answer", server.answer)
    route = answered_by("elimipl_app.slide.tiles", "tiles/{key}/{level}/{column}_{row}.jpg")
    return Starlette(routes=[route], middleware=MIDDLEWARE), server.serve("me", Gradient())


def test_a_tile_is_answered_with_headers_that_keep_it_here(served):
    app, key = served
    status, headers, body = get(app, f"/tiles/{key}/0/1_1.jpg")
    assert (status, headers["content-type"]) == (200, "image/jpeg")
    assert opened(body).shape == (TILE, TILE, 3)
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert "private" in headers["cache-control"]


def test_another_key_place_or_host_gets_nothing(served):
    app, key = served
    assert get(app, "/tiles/guess/0/1_1.jpg")[0] == 404
    assert get(app, f"/tiles/{key}/0/99_1.jpg")[0] == 404
    assert get(app, f"/tiles/{key}/99999999999999999999/0_0.jpg")[0] == 404
    assert get(app, f"/tiles/{key}/0/{'9' * 5000}_0.jpg")[0] == 404
    assert get(app, f"/tiles/{key}/one/-1_½.jpg")[0] == 404
    assert get(app, f"/tiles/{key}/0/1_1.jpg", host="attacker.example")[0] == 403
