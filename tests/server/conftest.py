"""A really running app, with the settings that ship, for the tests of what the server lets through."""

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.running_app import running_app


@dataclass(frozen=True)
class Served:
    """Where the app answers, its process, and the file with everything it wrote."""

    address: str
    process: subprocess.Popen[bytes]
    log: Path


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One app for all tests of a worker."""
    log = tmp_path_factory.mktemp("server") / "log.txt"
    with running_app(log=log) as (address, process):
        yield Served(address, process, log)
