"""Uploads that never end: few of each browser, cut off in time, and no reason to go on when the server is to end."""

import socket
import time
from collections import Counter
from urllib.parse import urlsplit

import pytest

from tests.support.running_app import running_app
from tests.support.simulated_visitor import XSRF_COOKIE, Visitor
from tests.support.waiting import PATIENCE

APP = """
import streamlit as st
from elimipl_app.server import bodies
from elimipl_app.server import app as server
if __name__ == "__main__":
    st.file_uploader("File", key="upload")
    st.text("Welcome")
else:
    bodies.SILENT_BODY_SECONDS, bodies.BODY_SECONDS = {silent}, {whole}
    app = st.App(__file__, lifespan=server.starting, middleware=server.MIDDLEWARE)
"""


@pytest.fixture
def slow_app(tmp_path):
    """Starts an app with these limits of time."""

    def start(silent: float = 600, whole: float = 600):
        script = tmp_path / "slow.py"
        script.write_text(APP.format(silent=silent, whole=whole), encoding="utf-8")
        return running_app(script)

    return start


async def begun(visitor: Visitor, count: int, with_cookie: bool = True) -> list[socket.socket]:
    """Uploads of one visitor of which the last byte never comes."""
    await visitor.run()
    place = (await visitor.upload_address()).upload_url
    cookie = visitor.cookie_header if with_cookie else f"{XSRF_COOKIE}={visitor.xsrf}"
    head = (
        f"PUT {place} HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=edge\r\n"
        f"X-Xsrftoken: {visitor.xsrf}\r\nCookie: {cookie}\r\nContent-Length: 1000\r\n\r\n--edge\r\n"
    )
    connections = [socket.create_connection(("localhost", urlsplit(visitor.address).port)) for _ in range(count)]
    for connection in connections:
        connection.sendall(head.encode())
    return connections


def answers(connections: list[socket.socket], seconds: float) -> Counter[str]:
    """The status that each connection was answered with before it was closed, or “waits”."""
    until = time.monotonic() + seconds
    found = []
    for connection in connections:
        got = b""
        try:
            while True:
                connection.settimeout(max(0.01, until - time.monotonic()))
                if not (part := connection.recv(4096)):
                    break
                got += part
        except TimeoutError:
            pass
        found.append(got.split()[1].decode() if got else "waits")
    return Counter(found)


async def test_one_browser_can_not_shut_everybody_out(slow_app):
    with slow_app() as (address, _):
        async with Visitor(address) as hostile, Visitor(address) as other:
            mine = await begun(hostile, 380)
            assert answers(mine, 3) == {"429": 372, "waits": 8}  # four arrive, four wait for their turn
            nobodys = await begun(hostile, 100, with_cookie=False)
            assert answers(nobodys, 3) == {"429": 60, "waits": 40}
            await other.run()
            await other.upload("upload", "a.png", b"x")
            assert "Welcome" in other.texts


@pytest.mark.parametrize("limits", [{"silent": 0.5}, {"whole": 0.5}])
async def test_a_body_that_takes_too_long_is_cut_off(slow_app, limits):
    with slow_app(**limits) as (address, _):
        async with Visitor(address) as visitor:
            assert answers(await begun(visitor, 4), PATIENCE) == {"408": 4}


async def test_an_unfinished_upload_does_not_keep_the_server_from_ending(slow_app):
    with slow_app() as (address, process):
        async with Visitor(address) as visitor:
            waiting = await begun(visitor, 2)
            assert answers(waiting, 0.5) == {"waits": 2}
            start = time.monotonic()
            process.terminate()
            process.wait(PATIENCE)
            assert time.monotonic() - start < 5
