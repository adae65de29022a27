"""What is done before the first visitor comes, and that nothing of it needs what is not installed."""

import asyncio
import runpy
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import streamlit as st
from starlette.routing import Route
from streamlit import net_util
from streamlit.web.server.starlette import starlette_websocket
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from ui.frame import starting

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


def test_guards_stand_before_anybody_comes_and_what_cannot_be_loaded_is_passed_over(restored, monkeypatch):
    metrics, other = (Route(f"/_stcore/{name}", print) for name in ("metrics", "health"))
    routes = [metrics, other]
    app = SimpleNamespace(_starlette_app=SimpleNamespace(router=SimpleNamespace(routes=routes)))
    monkeypatch.setattr(starting, "LONG_TO_LOAD", ("no_such_library", "json"))
    failed = []
    monkeypatch.setattr("threading.excepthook", failed.append)

    async def start() -> None:
        async with starting.starting(app):
            assert net_util.get_external_ip() is None
            assert starlette_websocket.is_url_from_allowed_origins("http://localhost:9999") is False
            assert routes[0].endpoint is not metrics.endpoint
            assert routes[1] is other

    asyncio.run(start())
    assert failed == []


def test_the_server_finds_the_app_and_the_page_is_not_run_for_it():
    loaded = runpy.run_path(str(ROOT / "app.py"), run_name="app")
    assert isinstance(loaded["app"], st.App)
    assert "show_page" not in loaded


def test_serving_begins_before_the_large_libraries_are_loaded():
    program = "import sys, runpy; runpy.run_path('app.py', run_name='app'); print({'torch', 'cv2'} & set(sys.modules))"
    ended = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "set()"
