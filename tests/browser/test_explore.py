"""The Explore page as a person uses it, in a real Chromium."""

from pathlib import Path

import cv2
import pytest
from playwright.sync_api import Page, expect

from bag_generators import phantom

pytestmark = pytest.mark.browser


@pytest.fixture
def tile(tmp_path: Path) -> Path:
    """A drawn tile as a PNG file that the app has not seen."""
    path = tmp_path / "my tile.png"
    cv2.imwrite(str(path), cv2.cvtColor(phantom.draw("TUM", seed=99).pixels, cv2.COLOR_RGB2BGR))
    return path


def test_first_visit_shows_a_picture_and_its_bag(page: Page, app_address: str) -> None:
    page.goto(app_address)
    expect(page.get_by_text("9 instances × 15 features")).to_be_visible(timeout=60_000)
    expect(page.locator(".js-plotly-plot").first).to_be_visible()
    expect(page.get_by_text("Not a medical device")).to_have_count(1)


def test_upload_and_switch_generator(page: Page, app_address: str, tile: Path) -> None:
    page.goto(app_address)
    expect(page.get_by_text("9 instances × 15 features")).to_be_visible(timeout=60_000)
    page.locator("input[type=file]").set_input_files(tile)
    expect(page.get_by_text("Your upload is shown")).to_be_visible(timeout=20_000)
    page.get_by_test_id("stSidebar").get_by_text("SIFT", exact=True).click()
    expect(page.get_by_text("25 instances × 128 features")).to_be_visible(timeout=20_000)


def test_link_restores_sample_and_generator(page: Page, app_address: str) -> None:
    page.goto(f"{app_address}/?generator=row")
    expect(page.get_by_text("8 instances × 9 features")).to_be_visible(timeout=60_000)


def test_broken_upload_gets_a_sentence(page: Page, app_address: str, tmp_path: Path) -> None:
    broken = tmp_path / "broken.png"
    broken.write_bytes(b"this is not a picture")
    page.goto(app_address)
    expect(page.get_by_text("9 instances × 15 features")).to_be_visible(timeout=60_000)
    page.locator("input[type=file]").set_input_files(broken)
    expect(page.get_by_test_id("stAlert")).to_contain_text("not an image", timeout=20_000)
    expect(page.get_by_text("Traceback")).to_have_count(0)
