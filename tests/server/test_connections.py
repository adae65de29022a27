"""Who may open connections to a running server, how many, and for how long without a word."""

import asyncio
import contextlib
import http.client
import socket
from pathlib import Path
from urllib.parse import urlsplit

from tests.server.opening import opening
from tests.support.running_app import running_app
from tests.support.simulated_visitor import Visitor, visiting
from tests.support.waiting import PATIENCE, wait_until


def test_pages_of_other_ports_of_this_machine_open_no_websocket():
    """Not even when they come before anybody else."""
    with running_app() as (address, _):
        port = urlsplit(address).port
        for foreign in ("http://localhost:9999", "http://127.0.0.1", "http://localhost", f"http://127.0.0.1:{port}"):
            assert opening(address, Origin=foreign) == "403", foreign
        assert opening(address, Origin=address) == "open"


def test_nobody_reads_the_metrics(served):
    for path in ("/_stcore/metrics", "/_stcore/metrics?families=session_events", "//_stcore/metrics"):
        connection = http.client.HTTPConnection(urlsplit(served.address).netloc, timeout=PATIENCE)
        connection.request("GET", path, headers={"Accept": "application/x-protobuf"})
        answer = connection.getresponse()
        content = answer.read()
        assert b"session" not in content, path
        assert answer.status in (400, 404), path


SILENT_SECONDS, LONG = 1.0, 600.0
QUIET = """
import streamlit as st
from elimipl_app.server import app as server
if __name__ == "__main__":
    server.SILENT_SECONDS = float(st.query_params["silent"])
    st.text("Welcome")
else:
    server.MOST_CONNECTIONS = 20
    app = st.App(__file__, lifespan=server.starting)
"""


def is_closed(connection: socket.socket, seconds: float) -> bool:
    connection.settimeout(seconds)
    try:
        return connection.recv(1) == b""
    except TimeoutError:
        return False
    except ConnectionError:
        return True


def silent_connections(address: str, count: int) -> list[socket.socket]:
    """Connections whose request never comes, or never ends."""
    opened = [socket.create_connection(("localhost", urlsplit(address).port), timeout=PATIENCE) for _ in range(count)]
    for number, connection in enumerate(opened):
        with contextlib.suppress(OSError):
            connection.send(b"GET / HTTP/1.1\r\nX-Slow: " if number % 2 else b"G")
    return opened


def test_connections_that_say_nothing_are_few_and_closed(tmp_path):
    script = tmp_path / "quiet.py"
    script.write_text(QUIET, encoding="utf-8")
    with running_app(script) as (address, process):

        async def visit(silent_seconds: float, stay: float = 0.0) -> list[str]:
            async with Visitor(address) as visitor:
                await visitor.run(f"silent={silent_seconds}")
                await asyncio.sleep(stay)
                await visitor.run(f"silent={silent_seconds}")
                return visitor.texts

        def held() -> int:
            return len(list(Path(f"/proc/{process.pid}/fd").iterdir()))

        assert "Welcome" in visiting(visit(LONG))
        before = held()
        silent = silent_connections(address, 60)
        wait_until(lambda: sum(is_closed(connection, 0.01) for connection in silent) >= 40)
        wait_until(lambda: held() - before <= 20)
        assert sum(not is_closed(connection, 0.01) for connection in silent) > 10  # those within the limit stay
        for connection in silent:
            connection.close()
        wait_until(lambda: held() <= before)

        visiting(visit(SILENT_SECONDS))
        assert all(is_closed(connection, PATIENCE) for connection in silent_connections(address, 10))
        assert "Welcome" in visiting(visit(SILENT_SECONDS, stay=SILENT_SECONDS + 0.5))  # who speaks may be idle
