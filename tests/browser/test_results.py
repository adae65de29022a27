"""The Results page in a real Chromium: figures at once, a choice that stays in the address, tests in words."""

import re

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser
SLOW = 90_000  # ms; a busy machine draws slowly


def test_figures_choices_in_the_address_and_claims(page: Page, app_address: str) -> None:
    page.goto(app_address)
    page.get_by_test_id("stSidebar").get_by_role("link", name="Results").click(timeout=SLOW)
    expect(page.get_by_role("heading", name="Results", exact=True)).to_be_visible(timeout=SLOW)
    expect(page.locator(".js-plotly-plot")).to_have_count(3, timeout=SLOW)
    page.get_by_test_id("stSidebar").get_by_role("radio", name="3", exact=True).click()
    expect(page.get_by_role("heading", name=re.compile("Accuracy on .*, r = 3"))).to_be_visible(timeout=SLOW)
    expect(page).to_have_url(re.compile("results_r_table2=3"), timeout=SLOW)
    page.get_by_text(re.compile("^ELIMIPL is more accurate than DEMIPL")).click()
    expect(page.get_by_text(re.compile("ELIMIPL − DEMIPL, r = 1")).first).to_be_visible(timeout=SLOW)
    page.reload()
    expect(page.get_by_role("heading", name=re.compile("Accuracy on .*, r = 3"))).to_be_visible(timeout=SLOW)
