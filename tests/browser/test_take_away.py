"""What a person takes away from Explore, in a real Chromium: the PNG as the screen shows it, a link to an upload."""

import io
from pathlib import Path

import cv2
import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Browser, Page, expect

from bag_generators.tissue import phantom
from elimipl_app.explore.picture_export import magnification

pytestmark = pytest.mark.browser
LINK = "/?sample=restained-crypt&generator=sift&labels=tissue7&map=single&painted=filled&opacity=0.9"
PLACE = """(plot, side) => { const {xaxis: x, yaxis: y} = plot._fullLayout, frame = plot.getBoundingClientRect();
  return {x: frame.left + x._offset + x.l2p(0), y: frame.top + y._offset + y.l2p(0),
          width: x.l2p(side) - x.l2p(0), height: y.l2p(side) - y.l2p(0)} }"""
"""Where the picture of `side` px lies on the screen: the figure is wider than it."""
COARSE = (28, 28)  # px; the screen shows the picture at another size and as JPEG
CLOSE = 6.0  # mean difference in grey levels


def drawn(page: Page):
    """The figure with the map, when nothing is left to come."""
    figure = page.locator(".st-key-overlay .js-plotly-plot").first
    expect(figure).to_be_visible(timeout=60_000)
    expect(page.get_by_test_id("stStatusWidget")).to_have_count(0, timeout=60_000)
    page.wait_for_timeout(500)
    return figure


def seen(page: Page, side: int) -> np.ndarray:
    """The picture with its map as it is on the screen."""
    box = drawn(page).evaluate(PLACE, side)
    return coarse(np.asarray(Image.open(io.BytesIO(page.screenshot(clip=box)))))


def coarse(pixels: np.ndarray) -> np.ndarray:
    return cv2.resize(np.ascontiguousarray(pixels[..., :3]), COARSE, interpolation=cv2.INTER_AREA).astype(float)


def test_the_png_is_the_screen_and_a_link_waits_for_the_upload(
    page: Page, browser: Browser, app_address: str, tmp_path: Path
) -> None:
    pixels = phantom.draw("TUM", seed=98).pixels
    tile = tmp_path / "tile.png"
    Image.fromarray(pixels).save(tile)
    page.goto(app_address + LINK)
    drawn(page)
    page.locator("input[type=file]").set_input_files(tile)
    expect(page.get_by_text("Shown: upload")).to_be_visible(timeout=60_000)
    screen = seen(page, len(pixels))
    with page.expect_download() as download:
        page.get_by_role("button", name="PNG", exact=True).click()
    taken = np.asarray(Image.open(download.value.path()))
    side = magnification(pixels) * len(pixels)
    shown, bare = coarse(taken[:side, :side]), coarse(pixels)
    assert np.abs(shown - screen).mean() < CLOSE
    assert np.abs(bare - screen).mean() > 2 * CLOSE  # the map is there to be seen

    link = page.url
    assert "picture=" in link
    assert "map=single" in link
    context = browser.new_context(viewport={"width": 1400, "height": 1000})
    fresh = context.new_page()
    fresh.goto(link)
    expect(fresh.get_by_text("This link was made with a picture you don't have")).to_be_visible(timeout=60_000)
    fresh.locator("input[type=file]").set_input_files(tile)
    expect(fresh.get_by_text("Shown: upload")).to_be_visible(timeout=60_000)
    assert np.abs(seen(fresh, len(pixels)) - screen).mean() < 1
    assert fresh.url == link

    fresh.locator(".st-key-map-kinds").get_by_text("Vote", exact=True).click()
    fresh.wait_for_url(lambda address: "map=vote" in address)
    drawn(fresh)
    fresh.go_back()
    fresh.wait_for_url(lambda address: "map=single" in address)
    drawn(fresh)
    expect(fresh.locator(".st-key-map-kinds [aria-checked=true], .st-key-map-kinds [aria-pressed=true]")).to_have_text(
        "Single"
    )
    context.close()
