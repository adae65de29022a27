"""A running app and a real Chromium for the browser tests."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page

from tests.support.chromium import find_chromium, open_browser
from tests.support.running_app import running_app

_HOVERING_TOO_LATE = "(reading '_hoverlayer')"
"""Plotly's own: the pointer rested on a figure that has just been replaced, and nothing follows from it."""
NO_BROWSER = "no Chromium was found: install one (Debian: apt-get install chromium) and run make test again"


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One Chromium for all tests of a worker. Without one: skipped on a person's machine, failed in CI."""
    if find_chromium() is None:
        give_up = pytest.fail if os.environ.get("CI") else pytest.skip
        give_up(f"the browser tests did not run: {NO_BROWSER}")
    with open_browser() as browser:
        yield browser


@pytest.fixture(scope="session")
def server_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the app writes while it runs."""
    return tmp_path_factory.mktemp("server") / "log.txt"


@pytest.fixture(scope="session")
def app_address(server_log: Path) -> Iterator[str]:
    """Address of a freshly started app."""
    with running_app(log=server_log) as (address, _):
        yield address


def _is_error(message: ConsoleMessage) -> bool:
    """A console error of the app's own.

    Streamlit itself asks in vain at times: below a page on a deep link, and for a picture of the run before.
    """
    asked_in_vain = message.text.startswith("Failed to load resource") and "404" in message.text
    told_of_it = message.text.startswith("Client Error: Image source error")
    return message.type == "error" and not asked_in_vain and not told_of_it


@pytest.fixture
def page(browser: Browser, app_address: str) -> Iterator[Page]:
    """A fresh visitor. Fails the test on a console error or a request to a foreign host."""
    context = browser.new_context(viewport={"width": 1400, "height": 1000})
    page = context.new_page()
    errors: list[str] = []
    foreign: list[str] = []
    page.on("console", lambda message: errors.append(message.text) if _is_error(message) else None)
    page.on("pageerror", lambda error: errors.append(str(error)) if _HOVERING_TOO_LATE not in str(error) else None)
    page.on(
        "request",
        lambda request: (
            None if request.url.startswith((app_address, "data:", "blob:")) else foreign.append(request.url)
        ),
    )
    yield page
    context.close()
    assert errors == []
    assert foreign == []
