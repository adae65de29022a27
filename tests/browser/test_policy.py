"""What the app forbids browsers is forbidden in a real one, and every page still works."""

import re
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.simulated_visitor import XSRF_COOKIE

PAGES = ("", "batch", "class", "compare", "doctor", "generators", "lesson", "results", "slide", "train")


@pytest.mark.browser
@pytest.mark.parametrize("name", PAGES)
def test_every_page_is_drawn_within_the_policy(page: Page, app_address: str, name: str) -> None:
    """A violation is an error of the console, which fails the test."""
    answer = page.goto(f"{app_address}/{name}")
    assert answer is not None
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    expect(page.locator("h1").first).to_be_visible(timeout=60_000)
    expect(page.locator("[data-testid=stApp][data-test-script-state=notRunning]")).to_be_visible(timeout=60_000)
    if name in ("", "lesson"):
        expect(page.locator(".js-plotly-plot").first).to_be_visible(timeout=60_000)


@pytest.mark.browser
def test_a_script_that_somebody_smuggles_in_does_not_run(browser: Browser, app_address: str) -> None:
    page = browser.new_page()
    page.goto(app_address)
    for harm in (
        "document.head.append(Object.assign(document.createElement('script'), {textContent: 'window.harmed = 1'}))",
        "document.body.insertAdjacentHTML('beforeend', '<img src=\"data:,\" onerror=\"window.harmed = 1\">')",
    ):
        page.evaluate(f"() => {{ {harm} }}")
    refused = page.evaluate("() => fetch('http://127.0.0.1:9/').then(() => '', error => String(error))")
    page.wait_for_timeout(300)
    assert page.evaluate("() => window.harmed") is None
    assert "Failed to fetch" in refused
    page.close()


@pytest.fixture
def other_port() -> Iterator[str]:
    """A page of another port of this machine."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<html><body>another page</body></html>")

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("localhost", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://localhost:{server.server_port}"
    server.shutdown()


@pytest.mark.browser
def test_a_page_of_another_port_can_neither_frame_the_app_nor_learn_who_visits(
    browser: Browser, app_address: str, other_port: str
) -> None:
    page = browser.new_page()
    page.goto(app_address)
    expect(page.locator("h1").first).to_be_visible(timeout=60_000)
    name = f"elimipl_visitor_{urlsplit(app_address).port}"
    kept = {cookie["name"]: cookie for cookie in page.context.cookies()}
    assert (kept[name]["httpOnly"], kept[name]["sameSite"]) == (True, "Lax")

    page.goto(other_port)
    seen = page.evaluate("() => document.cookie")
    assert XSRF_COOKIE in seen  # Streamlit's own, which therefore names nobody
    assert name not in seen
    page.evaluate(f"() => {{ document.cookie = '{name}={'a' * 43}; path=/' }}")
    after = {cookie["name"]: cookie["value"] for cookie in page.context.cookies()}
    assert after[name] == kept[name]["value"]
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.evaluate(f"() => {{ document.body.innerHTML = '<iframe src=\"{app_address}\"></iframe>' }}")
    page.wait_for_timeout(1000)
    assert any(re.search("frame-ancestors|refused to connect|Framing", text) for text in said), said
    page.close()
