"""A running app on a free port of this machine, for tests, benchmarks and screenshots."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import requests

ROOT = Path(__file__).resolve().parents[2]
_STARTING_SECONDS, _ENDING_SECONDS = 240.0, 120.0  # beside other programs; alone it takes a few


@contextmanager
def running_app(
    script: Path = ROOT / "app.py",
    log: Path | None = None,
    port: int | None = None,
    environment: Mapping[str, str | None] | None = None,
    folder: Path = ROOT,
) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Start the app, wait until it answers, give its address and process, and end it.

    It runs with the settings that ship, but for the port. `environment` changes variables (None takes one away),
    `folder` is the working folder.
    """
    port = port or free_port()
    command = [sys.executable, "-m", "streamlit", "run", str(script), "--server.port", str(port)]
    output = log.open("ab") if log else subprocess.DEVNULL
    variables = {name: value for name, value in {**os.environ, **(environment or {})}.items() if value is not None}
    server = subprocess.Popen(command, cwd=folder, stdout=output, stderr=subprocess.STDOUT, env=variables)
    address = f"http://localhost:{port}"
    try:
        wait_until_healthy(address, server)
        yield address, server
    finally:
        end_app(server)


def free_port() -> int:
    """A port nobody listens on just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_until_healthy(address: str, server: subprocess.Popen[bytes]) -> None:
    """Return when the app answers; raise when it ended, or after minutes, which only a very busy machine needs."""
    deadline = time.monotonic() + _STARTING_SECONDS
    while time.monotonic() < deadline:
        if server.poll() is not None:
            raise RuntimeError(f"the app ended with exit code {server.returncode} while starting")
        try:
            requests.get(f"{address}/_stcore/health", timeout=1).raise_for_status()
            return
        except OSError:
            time.sleep(0.25)
    raise RuntimeError(f"the app did not answer within {_STARTING_SECONDS:.0f} s")


def end_app(server: subprocess.Popen[bytes]) -> None:
    """Ask the app to end, and wait until it has."""
    server.terminate()
    try:
        server.wait(timeout=_ENDING_SECONDS)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()
        raise
