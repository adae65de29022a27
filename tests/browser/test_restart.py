"""The server is killed with a page open and started again: the page says so, comes back and works."""

import re

import pytest
from playwright.sync_api import Browser, expect

from tests.support.running_app import free_port, running_app

pytestmark = pytest.mark.browser
SLOW = 90_000  # ms; a busy machine draws slowly


def test_an_open_page_survives_a_killed_server(browser: Browser) -> None:
    port = free_port()
    page = browser.new_context(viewport={"width": 1400, "height": 1000}).new_page()
    with running_app(port=port) as (address, server):
        page.goto(f"{address}/?sample=Tumour+%28phantom%29&generator=Row")
        expect(page.locator(".st-key-overlay .js-plotly-plot").first).to_be_visible(timeout=SLOW)
        server.kill()
        server.wait()
        expect(page.get_by_text("Connection error")).to_be_visible(timeout=SLOW)
        expect(page.locator(".st-key-overlay .js-plotly-plot").first).to_be_visible()  # what was there stays readable
    with running_app(port=port):
        expect(page.get_by_text("Connection error")).to_have_count(0, timeout=SLOW)
        # At once: the new server has not shown the page yet, and the address still names the choice before.
        page.get_by_test_id("stSidebar").get_by_text("SIFT", exact=True).click(timeout=SLOW)
        expect(page.locator(".st-key-detail").get_by_text("of 25")).to_be_visible(timeout=SLOW)
        expect(page).to_have_url(re.compile("generator=sift"))
        assert page.get_by_test_id("stException").count() == 0
    page.context.close()
