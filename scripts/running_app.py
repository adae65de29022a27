"""A running app on a free port of this machine, for tests, benchmarks and screenshots."""

import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


@contextmanager
def running_app(
    script: Path = ROOT / "app.py", log: Path | None = None
) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Start the app, wait until it answers, give its address and process, and end it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", str(script), "--server.port", str(port)]
    output = log.open("wb") if log else subprocess.DEVNULL
    server = subprocess.Popen(
        [*command, "--server.address", "127.0.0.1"], cwd=ROOT, stdout=output, stderr=subprocess.STDOUT
    )
    address = f"http://127.0.0.1:{port}"
    try:
        _wait_until_healthy(address, server)
        yield address, server
    finally:
        server.terminate()
        server.wait(timeout=20)


def _wait_until_healthy(address: str, server: subprocess.Popen[bytes]) -> None:
    for _ in range(240):
        if server.poll() is not None:
            raise RuntimeError(f"the app ended with exit code {server.returncode} while starting")
        try:
            with urllib.request.urlopen(f"{address}/_stcore/health", timeout=1):
                return
        except OSError:
            time.sleep(0.25)
    raise RuntimeError("the app did not answer within a minute")
