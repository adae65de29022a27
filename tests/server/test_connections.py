"""Who may open connections to a running server, how many, and for how long without a word."""

import asyncio
import contextlib
import http.client
import socket
import time
from pathlib import Path
from urllib.parse import urlsplit

from scripts.running_app import running_app
from scripts.simulated_visitor import Visitor, visiting
from tests.server.opening import opening


def test_pages_of_other_ports_of_this_machine_open_no_websocket():
    """Not even when they come before anybody else."""
    with running_app() as (address, _):
        port = urlsplit(address).port
        for foreign in ("http://localhost:9999", "http://127.0.0.1", "http://localhost", f"http://127.0.0.1:{port}"):
            assert opening(address, Origin=foreign) == "403", foreign
        assert opening(address, Origin=address) == "open"


def test_nobody_reads_the_metrics(served):
    for path in ("/_stcore/metrics", "/_stcore/metrics?families=session_events", "//_stcore/metrics"):
        connection = http.client.HTTPConnection(urlsplit(served.address).netloc, timeout=30)
        connection.request("GET", path, headers={"Accept": "application/x-protobuf"})
        answer = connection.getresponse()
        content = answer.read()
        assert b"session" not in content, path
        assert answer.status in (400, 404), path


SILENT_SECONDS = 2.0
QUIET = f"""
import streamlit as st
if __name__ == "__main__":
    st.text("Welcome")
else:
    from ui.frame import guard
    from ui.frame.starting import starting
    guard.MOST_CONNECTIONS, guard.SILENT_SECONDS = 20, {SILENT_SECONDS}
    app = st.App(__file__, lifespan=starting)
"""


def is_closed(connection: socket.socket, seconds: float) -> bool:
    connection.settimeout(seconds)
    try:
        return connection.recv(1) == b""
    except TimeoutError:
        return False
    except ConnectionError:
        return True


def test_connections_that_say_nothing_are_few_and_closed(tmp_path):
    script = tmp_path / "quiet.py"
    script.write_text(QUIET, encoding="utf-8")
    with running_app(script) as (address, process):

        async def visit() -> list[str]:
            async with Visitor(address) as visitor:
                await visitor.run()
                await asyncio.sleep(SILENT_SECONDS + 0.5)  # longer than silent connections last
                await visitor.run()
                return visitor.texts

        assert "Welcome" in visiting(visit())
        server = ("localhost", urlsplit(address).port)
        files = Path(f"/proc/{process.pid}/fd")
        before = len(list(files.iterdir()))
        silent = [socket.create_connection(server, timeout=30) for _ in range(60)]
        for number, connection in enumerate(silent):
            with contextlib.suppress(OSError):
                connection.send(b"GET / HTTP/1.1\r\nX-Slow: " if number % 2 else b"G")
        until = time.monotonic() + 0.6 * SILENT_SECONDS  # those within the limit are still open then
        while len(list(files.iterdir())) - before > 25 and time.monotonic() < until:
            time.sleep(0.01)  # all are taken at once, and those beyond the limit closed one after the other
        assert len(list(files.iterdir())) - before <= 25
        assert sum(is_closed(connection, 0.01) for connection in silent) >= 30
        assert all(is_closed(connection, 30) for connection in silent)
        assert "Welcome" in visiting(visit())
