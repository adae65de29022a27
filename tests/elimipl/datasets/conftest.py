"""Fixtures of the tests that fetch from a server on this machine."""

import time
from contextlib import ExitStack

import pytest

from tests.elimipl.datasets.range_server import Behaviour, serve
from tests.elimipl.datasets.tile_server import NAME, ZIP


@pytest.fixture
def no_waiting(monkeypatch):
    """Pauses are noted instead of slept, and no proxy stands between the test and its server."""
    pauses = []
    monkeypatch.setattr(time, "sleep", pauses.append)
    monkeypatch.setenv("no_proxy", "*")
    return pauses


@pytest.fixture
def server():
    """Start servers that end with the test: `server(behaviour)` gives the address."""
    with ExitStack() as running:
        yield lambda behaviour: running.enter_context(serve(behaviour))


@pytest.fixture
def behaviour():
    return Behaviour({f"{NAME}.zip": ZIP, "NCT-CRC-HE-100K.zip": b"not a zip"})
