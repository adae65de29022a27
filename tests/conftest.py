"""What several tests share: the repository root and, when it lies beside the project, the real data."""

import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# Machines are noisy: a slow example is no failure.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

ROOT = Path(__file__).resolve().parents[1]
BROWSER = ROOT / "tests" / "browser"
collect_ignore = ["declared_only.py"]
"""A program that tests/test_wheel.py runs, not a test."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A browser on a busy machine draws when it likes: its tests alone are tried again, and the summary names them."""
    for item in items:
        if item.path.is_relative_to(BROWSER):
            item.add_marker(pytest.mark.flaky(reruns=2))


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """A test that visits a server may be a coroutine."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    from tests.support.simulated_visitor import visiting

    given = {name: pyfuncitem.funcargs[name] for name in inspect.signature(pyfuncitem.obj).parameters}
    visiting(pyfuncitem.obj(**given))
    return True


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
