"""What is done before the first visitor comes, also where a library is missing."""

import runpy
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import streamlit as st
from starlette.routing import Route
from streamlit import net_util
from streamlit.runtime import Runtime
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.web.server.starlette import starlette_websocket
from streamlit.web.server.starlette.starlette_static_routes import create_streamlit_static_assets_routes
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from bag_generators import InputError
from tests.support.waiting import awaited
from ui.frame.starting import starting

ROOT = Path(__file__).resolve().parents[3]
PARTS = (
    (net_util, "get_external_ip"),
    (starlette_websocket, "is_url_from_allowed_origins"),
    (AutoHTTPProtocol, "connection_made"),
    (MemoryUploadedFileManager, "add_file"),
    (MemoryUploadedFileManager, "get_files"),
    (Runtime, "close_session"),
)
"""Of Streamlit and uvicorn, as the guards rely on them."""


@pytest.fixture
def restored(monkeypatch):
    """What the guard replaces in Streamlit and uvicorn is put back after the test."""
    for place, name in PARTS[:3]:
        monkeypatch.setattr(place, name, getattr(place, name))


def started(routes, then=lambda: None) -> None:
    """Start a server of these routes, and do something while it runs."""
    app = SimpleNamespace(_starlette_app=SimpleNamespace(router=SimpleNamespace(routes=routes)))

    async def start() -> None:
        async with starting(app):
            then()

    awaited(start())


def own_routes():
    """The routes of a server, as Streamlit makes them."""
    made = [Route(f"/_stcore/{name}", print) for name in ("metrics", "health")]
    return [*made, *create_streamlit_static_assets_routes(None)]


def test_guards_stand_before_anybody_comes(restored):
    routes = own_routes()
    metrics, other = routes[:2]

    def look() -> None:
        assert net_util.get_external_ip() is None
        assert starlette_websocket.is_url_from_allowed_origins("http://localhost:9999") is False
        assert routes[0].endpoint is not metrics.endpoint
        assert routes[1] is other

    started(routes, look)


@pytest.mark.parametrize(("place", "name"), PARTS, ids=lambda part: getattr(part, "__name__", part))
def test_a_library_that_has_renamed_a_part_is_refused(restored, monkeypatch, place, name):
    monkeypatch.delattr(place, name)
    with pytest.raises(InputError, match=f"not started.* has no “{name}”.*requirements"):
        started(own_routes())


class Renamed:
    """What objects of a class are made like once their attributes are called otherwise."""

    def __init__(self) -> None:
        self.other_name = None


@pytest.mark.parametrize("kind", [AutoHTTPProtocol, MemoryUploadedFileManager, Runtime])
def test_a_library_that_has_renamed_an_attribute_is_refused(restored, monkeypatch, kind):
    monkeypatch.setattr(kind, "__init__", Renamed.__init__)
    with pytest.raises(InputError, match=f"not started.*“{kind.__qualname__}” sets no"):
        started(own_routes())


@pytest.mark.parametrize("missing", [slice(0, 1), slice(2, None)], ids=["metrics", "the page"])
def test_a_server_without_a_route_that_is_guarded_is_refused(restored, missing):
    routes = own_routes()
    del routes[missing]
    with pytest.raises(InputError, match=r"not started.*no route"):
        started(routes)


def test_the_server_finds_the_app_and_the_page_is_loaded_but_not_run():
    loaded = runpy.run_path(str(ROOT / "app.py"), run_name="app")
    assert isinstance(loaded["app"], st.App)
    assert "ui.explore.page" in sys.modules
    assert "show_page" not in loaded


def test_the_app_is_served_where_a_library_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "ui.explore.page", None)  # as if it could not be imported
    assert isinstance(runpy.run_path(str(ROOT / "app.py"), run_name="app")["app"], st.App)
