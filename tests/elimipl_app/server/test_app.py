"""What the server does before the first visitor comes, what it answers itself, and what is set once."""

import asyncio
import re
import runpy
import sys
import tomllib
from pathlib import Path

import cv2
import pytest
import streamlit as st
import torch
import uvicorn
from starlette.applications import Starlette
from streamlit import file_util, net_util
from streamlit.runtime import Runtime
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.web.server.starlette import starlette_websocket
from streamlit.web.server.starlette.starlette_static_routes import create_streamlit_static_assets_routes
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from bag_generators import InputError
from elimipl_app.server import app as server
from elimipl_app.server.app import MIDDLEWARE, prepare_server, starting
from elimipl_app.shell.style import STYLE
from tests.support.simulated_visitor import visiting

ROOT = Path(__file__).resolve().parents[3]
FOLDER = Path(file_util.get_static_dir())
SCRIPT = next((FOLDER / "static" / "js").glob("index.*.js")).relative_to(FOLDER).as_posix()
PARTS = (
    (net_util, "get_external_ip"),
    (starlette_websocket, "is_url_from_allowed_origins"),
    (AutoHTTPProtocol, "connection_made"),
    (uvicorn.Server, "shutdown"),
    (MemoryUploadedFileManager, "add_file"),
    (MemoryUploadedFileManager, "get_files"),
    (Runtime, "close_session"),
)
"""Of Streamlit and uvicorn, as the guards rely on them."""


def answer(path: str, middleware=MIDDLEWARE, **headers: str) -> tuple[int, dict[str, str], str]:
    """What a browser gets that asks for `path`."""
    app = Starlette(routes=create_streamlit_static_assets_routes(None), middleware=middleware)
    headers = {"host": "localhost", **headers}
    sent = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": "http", "method": "GET", "path": path, "root_path": "", "headers": sent, "query_string": b""}
    got: list = []

    async def receive():
        await asyncio.sleep(600)  # the browser waits for its answer

    async def send(message):
        got.append(message)

    visiting(app(scope, receive, send))
    told = {name.decode(): value.decode() for name, value in got[0]["headers"]}
    return got[0]["status"], told, b"".join(message.get("body", b"") for message in got[1:]).decode()


@pytest.mark.parametrize("path", ["/", "/index.html", "/lesson"])
def test_every_page_brings_its_style_and_asks_for_plotly(path):
    status, headers, html = answer(path)
    assert (status, headers["cache-control"], html.count(STYLE)) == (200, "no-cache", 1)
    assert html.index("</head>") < html.index(STYLE) < html.index("</body>")
    asked = re.search(r'<link rel="modulepreload" crossorigin href="\./(static/js/PlotlyChart\.[^"]+)">', html)
    assert (FOLDER / asked[1]).is_file()


def test_a_browser_that_knows_the_bare_page_gets_ours():
    known = answer("/", [])[1]["etag"]
    assert answer("/", [], if_none_match=known)[0] == 304
    assert STYLE in answer("/", if_none_match=known)[2]


def test_other_files_stay_as_they_are_and_there_are_no_metrics():
    (status, headers, content), (_, bare_headers, bare) = answer(f"/{SCRIPT}"), answer(f"/{SCRIPT}", [])
    assert (status, content) == (200, bare)
    assert headers.items() >= bare_headers.items()
    for path in ("/_stcore/metrics", "/_stcore/metrics/", "/below/_stcore/metrics"):
        assert answer(path)[0] == 404


@pytest.fixture
def restored(monkeypatch):
    """What the guards replace in Streamlit and uvicorn is put back after the test."""
    for place, name in PARTS[:4]:
        monkeypatch.setattr(place, name, getattr(place, name))


def started(then=lambda: None) -> None:
    """Start a server, and do something while it runs."""

    async def start() -> None:
        async with starting(None):
            then()

    visiting(start())


def test_guards_stand_before_anybody_comes(restored):
    def look() -> None:
        assert net_util.get_external_ip() is None
        assert starlette_websocket.is_url_from_allowed_origins("http://localhost:9999") is False

    started(look)


@pytest.mark.parametrize(("place", "name"), PARTS, ids=lambda part: getattr(part, "__name__", part))
def test_a_library_that_has_renamed_a_part_is_refused(restored, monkeypatch, place, name):
    monkeypatch.delattr(place, name)
    with pytest.raises(InputError, match=f"not started.* has no “{name}”.*requirements"):
        started()


@pytest.mark.parametrize("kind", [AutoHTTPProtocol, MemoryUploadedFileManager, Runtime])
def test_a_library_that_has_renamed_an_attribute_is_refused(restored, monkeypatch, kind):
    monkeypatch.setattr(kind, "__init__", lambda self: None)
    with pytest.raises(InputError, match=f"not started.*“{kind.__qualname__}” sets no"):
        started()


def test_the_server_finds_the_app_and_the_page_is_loaded_but_not_run():
    loaded = runpy.run_path(str(ROOT / "app.py"), run_name="app")
    assert isinstance(loaded["app"], st.App)
    assert "elimipl_app.explore.page" in sys.modules
    assert "show_page" not in loaded


def test_the_app_is_served_where_a_library_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "elimipl_app.explore.page", None)  # as if it could not be imported
    assert isinstance(runpy.run_path(str(ROOT / "app.py"), run_name="app")["app"], st.App)


def test_garbage_is_collected_now_and_then_but_not_for_every_run(monkeypatch):
    settings = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    assert settings["runner"]["postScriptGC"] is False
    prepare_server()
    collected = []
    monkeypatch.setattr(server.gc, "collect", lambda: collected.append(1))
    prepare_server()
    assert collected == []
    server._collect_garbage.clear()  # as when the time has passed
    prepare_server()
    prepare_server()
    assert collected == [1]


def test_one_thread_per_computation():
    st.cache_resource.clear()  # another test may have had it done and changed it
    prepare_server()
    assert torch.get_num_threads() == 1
    assert cv2.getNumThreads() == 1
