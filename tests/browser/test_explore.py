"""The Explore page as a person uses it, in a real Chromium."""

from pathlib import Path

import cv2
import pytest
from playwright.sync_api import Browser, Page, expect

from bag_generators.tissue import phantom

pytestmark = pytest.mark.browser
ARTEFACTS = Path(__file__).resolve().parents[2] / "artefacts"
PHANTOM_LINK = (
    "/?sample=Tumour+%28phantom%29&generator=SIFT&labels=7+tissues&method=DEMIPL&map=Leave-one-out&scale=rank"
)


@pytest.fixture
def tile(tmp_path: Path) -> Path:
    """A drawn tile as a PNG file that the app has not seen."""
    path = tmp_path / "my tile.png"
    cv2.imwrite(str(path), cv2.cvtColor(phantom.draw("TUM", seed=99).pixels, cv2.COLOR_RGB2BGR))
    return path


def chart(page: Page, key: str):
    """The Plotly figure with this key, drawn."""
    found = page.locator(f".st-key-{key} .js-plotly-plot").first
    expect(found).to_be_visible(timeout=60_000)
    return found


def settled(page: Page) -> None:
    """Wait until the server has nothing left to send."""
    expect(page.get_by_test_id("stStatusWidget")).to_have_count(0, timeout=60_000)


def bar_values(page: Page) -> list[float]:
    return chart(page, "class-bars").evaluate(
        "plot => plot._fullData.filter(trace => trace.name != 'before')"
        ".flatMap(trace => Array.from(trace.x)).map(value => Math.round(value * 1e6) / 1e6)"
    )


def test_upload_click_remove(page: Page, app_address: str, tile: Path) -> None:
    page.goto(app_address)
    chart(page, "overlay")
    page.locator("input[type=file]").set_input_files(tile)
    expect(page.get_by_text("Your upload is shown")).to_be_visible(timeout=30_000)
    settled(page)
    overlay = chart(page, "overlay")
    box = overlay.locator(".nsewdrag").first.bounding_box()
    page.mouse.click(box["x"] + 0.3 * box["width"], box["y"] + 0.3 * box["height"])
    settled(page)
    expect(page.get_by_text("Instance 0", exact=True)).to_be_visible(timeout=20_000)
    before = bar_values(page)
    page.get_by_role("button", name="Remove", exact=True).click()
    settled(page)
    page.wait_for_function(
        "() => document.querySelector('.st-key-class-bars .js-plotly-plot').data.some(trace => trace.name == 'before')"
    )
    assert bar_values(page) != before


def test_opacity_and_hiding_send_nothing(page: Page, app_address: str) -> None:
    sent: list[str | bytes] = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda frame: sent.append(frame)))
    page.goto(app_address)
    overlay = chart(page, "overlay")
    settled(page)
    page.wait_for_timeout(1000)
    sent.clear()
    overlay.locator(".slider-rail-touch-rect").first.click(position={"x": 20, "y": 20}, force=True)
    page.wait_for_function("() => document.querySelector('.st-key-overlay .js-plotly-plot').data[0].opacity < .5")
    overlay.locator(".updatemenu-button").nth(1).click(force=True)
    page.wait_for_function("() => document.querySelector('.st-key-overlay .js-plotly-plot').data[0].visible === false")
    page.wait_for_timeout(500)
    assert sent == []


def test_link_restores_everything_on_a_first_visit(page: Page, app_address: str) -> None:
    page.goto(app_address + PHANTOM_LINK)
    title = chart(page, "overlay").evaluate("plot => plot.data[0].colorbar.title.text")
    assert title.startswith("Leave-one-out")
    expect(page.get_by_text("rank 1 of 25")).to_be_visible()
    expect(page.get_by_text("Recorded with the sample")).to_be_visible()
    assert "method=DEMIPL" in page.url


def test_keyboard_reaches_an_instance(page: Page, app_address: str) -> None:
    page.goto(app_address + "/?sample=Tumour+%28phantom%29&generator=Row")
    chart(page, "overlay")
    settled(page)
    table = page.locator(".st-key-table").first
    table.scroll_into_view_if_needed()
    table.click(position={"x": 20, "y": 110}, force=True)
    settled(page)
    expect(page.get_by_text("Instance 2", exact=True)).to_be_visible(timeout=20_000)


def test_nonsense_in_the_address_gives_the_defaults(page: Page, app_address: str) -> None:
    page.goto(app_address + "/?threshold=abc&generator=%00&sample=..%2F..%2Fetc&scale=17")
    chart(page, "overlay")
    expect(page.get_by_test_id("stException")).to_have_count(0)


def test_broken_upload_gets_a_sentence_and_the_page_stays_usable(page: Page, app_address: str, tmp_path: Path) -> None:
    broken = tmp_path / "broken.png"
    broken.write_bytes(b"this is not a picture")
    page.goto(app_address)
    chart(page, "overlay")
    page.locator("input[type=file]").set_input_files(broken)
    expect(page.get_by_test_id("stAlert").filter(has_text="not an image")).to_be_visible(timeout=20_000)
    expect(page.get_by_text("Traceback")).to_have_count(0)
    page.get_by_test_id("stFileChipDeleteBtn").get_by_role("button").click()
    chart(page, "overlay")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_pictures_of_both_themes_are_kept(browser: Browser, app_address: str, theme: str) -> None:
    ARTEFACTS.mkdir(exist_ok=True)
    context = browser.new_context(viewport={"width": 1400, "height": 1300}, color_scheme=theme)
    page = context.new_page()
    page.goto(app_address + "/?sample=Tumour+%28phantom%29")
    chart(page, "overlay")
    chart(page, "class-bars")
    settled(page)
    page.wait_for_timeout(800)
    target = ARTEFACTS / f"explore-{theme}.png"
    page.screenshot(path=target)
    context.close()
    brightness = cv2.imread(str(target), cv2.IMREAD_GRAYSCALE).mean()
    assert (brightness < 100) == (theme == "dark")
