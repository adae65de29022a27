"""What is done before the first visitor comes, also where a library is missing."""

import asyncio
import runpy
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import streamlit as st
from starlette.routing import Route
from streamlit import net_util
from streamlit.web.server.starlette import starlette_websocket
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from ui.frame.starting import starting

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def restored(monkeypatch):
    """What the guard replaces in Streamlit and uvicorn is put back after the test."""
    for place, name in (
        (net_util, "get_external_ip"),
        (starlette_websocket, "is_url_from_allowed_origins"),
        (AutoHTTPProtocol, "connection_made"),
    ):
        monkeypatch.setattr(place, name, getattr(place, name))


def test_guards_stand_before_anybody_comes(restored):
    metrics, other = (Route(f"/_stcore/{name}", print) for name in ("metrics", "health"))
    routes = [metrics, other]
    app = SimpleNamespace(_starlette_app=SimpleNamespace(router=SimpleNamespace(routes=routes)))

    async def start() -> None:
        async with starting(app):
            assert net_util.get_external_ip() is None
            assert starlette_websocket.is_url_from_allowed_origins("http://localhost:9999") is False
            assert routes[0].endpoint is not metrics.endpoint
            assert routes[1] is other

    asyncio.run(start())


def test_the_server_finds_the_app_and_the_page_is_loaded_but_not_run():
    loaded = runpy.run_path(str(ROOT / "app.py"), run_name="app")
    assert isinstance(loaded["app"], st.App)
    assert "ui.explore.page" in sys.modules
    assert "show_page" not in loaded


def test_the_app_is_served_where_a_library_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "ui.explore.page", None)  # as if it could not be imported
    assert isinstance(runpy.run_path(str(ROOT / "app.py"), run_name="app")["app"], st.App)
