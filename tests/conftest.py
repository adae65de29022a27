"""What several tests share: the repository root and, when it lies beside the project, the real data."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# Machines are noisy: a slow example is no failure.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

ROOT = Path(__file__).resolve().parents[1]
SEVERAL_PROGRAMS = ("browser", "server", "faults", "elimipl/cluster", "elimipl/training/test_team.py")
"""Tests in which real browsers, servers or clusters meet; what they share is the time of a busy machine."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Where several programs wait for each other, a test that fails once is tried again; the summary names it."""
    places = tuple(str(ROOT / "tests" / place) for place in SEVERAL_PROGRAMS)
    for item in items:
        if str(item.path).startswith(places):
            item.add_marker(pytest.mark.flaky(reruns=2))


@pytest.fixture(scope="session", autouse=True)
def _classes_of_their_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Sessions of classes never go to the file of the person who runs the tests."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("ELIMIPL_CLASSES", str(tmp_path_factory.mktemp("classes") / "classes.sqlite3"))
        yield


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real tiles next to the project; tests that ask for it are skipped where it is absent."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the real tiles (../shared/data) are not on this machine")
    return folder
