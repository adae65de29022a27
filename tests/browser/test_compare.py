"""The Compare page in a real Chromium: figures at once, an epoch to move, a method trained live and stopped."""

import re

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser
SLOW = 90_000  # ms; a busy machine draws slowly


def test_two_methods_side_by_side_and_one_trained_here(page: Page, app_address: str) -> None:
    page.goto(f"{app_address}/compare?compare_data=tissue-row")
    expect(page.get_by_role("heading", name="Compare models", exact=True)).to_be_visible(timeout=SLOW)
    expect(page.get_by_role("heading", name="DEMIPL", exact=True)).to_be_visible(timeout=SLOW)
    expect(page.locator(".js-plotly-plot")).to_have_count(7, timeout=SLOW)
    expect(page.get_by_text(re.compile("does not show Figure 2's point"))).to_be_visible()
    expect(page.get_by_role("img", name=re.compile(r"\d+ · \w+\. DEMIPL: true label"))).to_have_count(14)
    page.get_by_role("slider", name=re.compile("After epoch")).press("Home")
    expect(page).to_have_url(re.compile("compare_epoch=0"), timeout=SLOW)
    page.get_by_role("button", name="Train it here").click()
    expect(page.get_by_text(re.compile(r"epoch ([2-9]|\d\d+) of 60"))).to_be_visible(timeout=SLOW)
    page.get_by_role("button", name="Stop training").click()
    expect(page.get_by_text(re.compile(r"(stopped after epoch \d+|done)\."))).to_be_visible(timeout=SLOW)
