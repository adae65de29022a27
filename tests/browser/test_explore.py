"""The Explore page as a person uses it, in a real Chromium."""

import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import cv2
import pytest
from playwright.sync_api import Browser, Page, expect

from bag_generators.tissue import phantom

pytestmark = pytest.mark.browser
ARTEFACTS = Path(__file__).resolve().parents[2] / "artefacts"


@pytest.fixture
def tile(tmp_path: Path) -> Path:
    """A drawn tile as a PNG file that the app has not seen."""
    path = tmp_path / "my tile.png"
    cv2.imwrite(str(path), cv2.cvtColor(phantom.draw("TUM", seed=99).pixels, cv2.COLOR_RGB2BGR))
    return path


def chart(page: Page, key: str):
    """The Plotly figure with this key, drawn."""
    found = page.locator(f".st-key-{key} .js-plotly-plot").first
    expect(found).to_be_visible(timeout=120_000)
    page.wait_for_function(
        "key => document.querySelector(`.st-key-${key} .js-plotly-plot`)?._fullData", arg=key, timeout=60_000
    )
    return found


def settled(page: Page) -> None:
    """Wait until the server has nothing left to send."""
    expect(page.get_by_test_id("stStatusWidget")).to_have_count(0, timeout=60_000)


def bar_values(page: Page) -> list[float]:
    return chart(page, "class-bars").evaluate(
        "plot => plot._fullData.filter(trace => trace.name != 'before')"
        ".flatMap(trace => Array.from(trace.x)).map(value => Math.round(value * 1e6) / 1e6)"
    )


def has_ghosts(page: Page) -> bool:
    return chart(page, "class-bars").evaluate("plot => plot.data.some(trace => trace.name == 'before')")


def at(page: Page, x: float, y: float) -> tuple[float, float]:
    """A place on the screen, given as shares of the map's own area."""
    area = chart(page, "overlay").locator(".nsewdrag").first
    for _ in range(120):  # a figure that is being drawn anew has no place yet
        if (box := area.bounding_box()) is not None:
            break
        page.wait_for_timeout(500)
    return box["x"] + x * box["width"], box["y"] + y * box["height"]


def choose_tool(page: Page, name: str) -> None:
    page.locator(".st-key-map-tools").get_by_role("radio", name=name, exact=True).or_(
        page.locator(".st-key-map-tools").get_by_role("button", name=name, exact=True)
    ).first.click()
    settled(page)


MOST_SHIFT = 0.05  # of 1: everything on the screen moved by its whole height
KEEP_SHIFTS = """window.shifts = [];
new PerformanceObserver(list => window.shifts.push(...list.getEntries().filter(one => !one.hadRecentInput)
  .map(one => [one.value, one.sources.map(source => source.node?.className ?? "").join(", ")])))
  .observe({type: "layout-shift", buffered: true})"""


@pytest.fixture(scope="session")
def shown_once(browser: Browser, app_address: str) -> str:
    """Address of an app that somebody has visited: from then on its pages bring their style along."""
    page = browser.new_page()
    page.goto(app_address)
    expect(page.get_by_test_id("stSidebar")).to_be_visible(timeout=120_000)
    page.close()
    return app_address


@pytest.mark.parametrize(
    ("width", "height", "screens", "theme"),
    [(1440, 900, 1, "light"), (1280, 720, 1, "dark"), (900, 900, 2, "light"), (390, 844, 2, "dark")],
    ids=str,
)
def test_picture_answer_and_bars_stand_on_the_first_screens(
    browser: Browser, shown_once: str, width: int, height: int, screens: int, theme: str
) -> None:
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=theme)
    page = context.new_page()
    page.add_init_script(KEEP_SHIFTS)
    page.goto(shown_once)
    for key in ("overlay", "class-bars"):
        chart(page, key)
    settled(page)
    page.wait_for_timeout(500)
    shifts = page.evaluate("window.shifts")
    assert sum(value for value, _ in shifts) <= MOST_SHIFT, shifts
    keys = ("overlay", "answer", "class-bars")
    boxes = {key: page.locator(f".st-key-{key}").first.bounding_box() for key in keys}
    for key, box in boxes.items():
        assert box["y"] >= 0, key
        assert box["y"] + box["height"] <= screens * height, (key, box)
        assert box["x"] + box["width"] <= width, (key, box)
    if screens == 1:
        assert boxes["overlay"]["x"] + boxes["overlay"]["width"] <= boxes["answer"]["x"]
    else:
        assert boxes["overlay"]["y"] < boxes["class-bars"]["y"]
    ARTEFACTS.mkdir(exist_ok=True)
    target = ARTEFACTS / f"explore-{width}x{height}.png"
    page.screenshot(path=target)
    context.close()
    assert (cv2.imread(str(target), cv2.IMREAD_GRAYSCALE).mean() < 110) == (theme == "dark")


def open_upload(page: Page, app_address: str, tile: Path) -> None:
    """The page with a picture of one's own."""
    page.goto(app_address)
    chart(page, "overlay")
    settled(page)
    page.locator("input[type=file]").set_input_files(tile)
    expect(page.get_by_text("Shown: upload")).to_be_visible(timeout=60_000)
    settled(page)


def test_upload_look_remove_and_no_leak(page: Page, app_address: str, tile: Path, tmp_path: Path) -> None:
    """A picture of one's own: the answer, a patch, a region, patches taken out, and none of it in the next picture."""
    open_upload(page, app_address, tile)
    page.mouse.click(*at(page, 0.4, 0.4))
    expect(page.locator(".st-key-detail").get_by_text(re.compile("^Patch 10[12]$"))).to_be_visible(timeout=60_000)

    choose_tool(page, "Lens")
    page.mouse.move(*at(page, 0.3, 0.3))
    page.mouse.down()
    page.mouse.move(*at(page, 0.5, 0.5), steps=5)
    page.mouse.up()
    expect(page.get_by_text("of the attention")).to_be_visible(timeout=60_000)
    expect(page.locator(".st-key-map-says")).to_contain_text("In the lens")

    choose_tool(page, "Remove")
    before = bar_values(page)
    page.mouse.click(*at(page, 0.4, 0.4))
    expect(page.get_by_text("cells removed")).to_be_visible(timeout=60_000)
    settled(page)
    assert has_ghosts(page)
    assert bar_values(page) != before

    other = tmp_path / "other.png"
    cv2.imwrite(str(other), cv2.cvtColor(phantom.draw("STR", seed=7).pixels, cv2.COLOR_RGB2BGR))
    page.locator("input[type=file]").set_input_files(other)
    expect(page.get_by_text("cells removed")).to_have_count(0, timeout=60_000)
    settled(page)
    assert not has_ghosts(page)
    expect(page.get_by_text("of the attention")).to_have_count(0)


def test_a_field_that_was_moved_is_whole_again_and_a_key_hides_the_map(page: Page, app_address: str) -> None:
    page.goto(app_address + "/?sample=restained-section&generator=row")
    chart(page, "overlay")
    settled(page)
    choose_tool(page, "Remove")
    draw_box = page.locator('.st-key-overlay .modebar-btn[data-title="Box Select"]')
    draw_box.click()
    page.mouse.move(*at(page, 0.42, 0.42))
    page.mouse.down()
    page.mouse.move(*at(page, 0.58, 0.58), steps=5)
    page.mouse.up()
    expect(page.get_by_text("patches removed")).to_be_visible(timeout=60_000)
    settled(page)
    choose_tool(page, "Look")
    expect(draw_box).to_have_count(0, timeout=60_000)
    expect(page.locator(".st-key-field")).to_contain_text("px at 144, 144")
    page.mouse.click(*at(page, 0.15, 0.1))
    expect(page.locator(".st-key-field")).to_contain_text("px at 0, 0", timeout=60_000)
    settled(page)
    expect(page.get_by_text("patches removed")).to_have_count(0, timeout=60_000)
    assert not has_ghosts(page)
    page.keyboard.press("h")
    expect(page.get_by_text("The map is hidden")).to_be_visible(timeout=60_000)
    assert chart(page, "overlay").evaluate("plot => plot.data.every(trace => trace.type != 'heatmap')")


def test_every_control_of_the_map_and_a_patch_are_reached_by_keyboard(page: Page, app_address: str) -> None:
    page.goto(app_address + "/?generator=Row")
    chart(page, "overlay")
    settled(page)
    for group in (".st-key-map-kinds", ".st-key-map-tools", ".st-key-hide", ".st-key-scale"):
        stops = page.locator(f"{group} :is(button, input, [role=radio])").evaluate_all(
            "found => found.filter(one => { one.focus(); return one.tabIndex >= 0 && document.activeElement === one })"
            ".length"
        )
        assert stops > 0, group
    table = page.locator(".st-key-table").first
    table.scroll_into_view_if_needed()
    table.click(position={"x": 20, "y": 110}, force=True)
    settled(page)
    expect(page.locator(".st-key-detail").get_by_text("Patch 2", exact=True)).to_be_visible(timeout=60_000)
    page.get_by_role("button", name="Settings").first.press("Enter")
    expect(page.get_by_text("Opacity")).to_be_visible(timeout=60_000)


def lens_of(page: Page) -> list[float]:
    """Left, top, width and height of the lens, as the address has it."""
    page.wait_for_url(re.compile("lens="), timeout=60_000)
    return [float(one) for one in parse_qs(urlsplit(page.url).query)["lens"][0].split(",")]


def drag(page: Page, start: tuple[float, float], end: tuple[float, float]) -> None:
    page.mouse.move(*at(page, *start))
    page.mouse.down()
    page.mouse.move(*at(page, *end), steps=10)


def test_a_lens_is_drawn_and_dragged_without_a_message_and_stays_as_large(page: Page, app_address: str) -> None:
    sent: list[int] = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda frame: sent.append(len(frame))))
    page.goto(app_address + "/?sample=restained-overview&tool=region")
    chart(page, "overlay")
    settled(page)
    page.wait_for_timeout(1000)
    quiet = len(sent)
    drag(page, (0.2, 0.2), (0.5, 0.5))
    assert len(sent) == quiet
    page.mouse.up()
    says = page.locator(".st-key-map-says")
    expect(says).to_contain_text("In the lens", timeout=60_000)
    expect(says).to_contain_text("The whole picture")
    settled(page)
    before = lens_of(page)
    page.mouse.click(*at(page, 0.35, 0.35))  # takes hold of it
    page.wait_for_timeout(1000)
    quiet = len(sent)
    drag(page, (0.35, 0.35), (0.6, 0.55))
    assert len(sent) == quiet
    page.mouse.up()
    page.wait_for_function("was => !decodeURIComponent(location.href).includes(was)", arg=f"lens={before[0]:.0f},")
    after = lens_of(page)
    assert after[2:] == pytest.approx(before[2:], abs=2)
    assert after[0] > before[0]


def test_an_upload_survives_another_page_and_a_reload(page: Page, app_address: str, tile: Path) -> None:
    open_upload(page, app_address, tile)
    own = bar_values(page)
    page.locator(".st-key-pages").get_by_role("link", name="Doctor").click()
    expect(page.get_by_role("heading", name="Doctor")).to_be_visible(timeout=60_000)
    settled(page)
    page.locator(".st-key-pages").get_by_role("link", name="Explore").click()
    expect(page.get_by_text("Shown: upload")).to_be_visible(timeout=60_000)
    settled(page)
    assert bar_values(page) == own
    page.reload()
    expect(page.get_by_text("Shown: upload")).to_be_visible(timeout=120_000)
    settled(page)
    assert bar_values(page) == own
