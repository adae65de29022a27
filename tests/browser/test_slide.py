"""A slide in a real Chromium: zoomed to its own pixels and back, mapped, measured, a field opened on Explore."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import requests
from PIL import ImageColor
from playwright.sync_api import Page, expect

from bag_generators.slide import open_slide
from bag_generators.slide.demo import pyramid
from bag_generators.tissue.phantom import draw
from elimipl.answers.predictor import Predictor
from elimipl.slides import SlideMap, map_slide
from elimipl_app.charts.map_layer import class_colours
from tests.support.running_app import running_app

pytestmark = pytest.mark.browser
SLOW = 120_000  # ms; a busy machine draws slowly
MODEL = "tissue7-row-elimipl"
TILE, COLUMNS, ROWS = 224, 8, 6
LINE, LINE_WIDTH = 1000, 12  # px: a green line from top to bottom, to see where the slide's pixels are shown


@pytest.fixture(scope="module")
def slides(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one slide: strips of four tissues, a green line across them."""
    folder = tmp_path_factory.mktemp("slides")
    kinds = [draw(kind, 1, TILE, coverage=0.9).pixels for kind in ("MUS", "LYM", "NORM", "TUM")]
    row = np.concatenate([kinds[column // 2] for column in range(COLUMNS)], axis=1)
    pixels = np.concatenate([row] * ROWS)
    pixels[:, LINE : LINE + LINE_WIDTH] = (0, 200, 0)
    (folder / "strips.tif").write_bytes(pyramid([pixels, pixels[::2, ::2], pixels[::4, ::4]], 0.5))
    return folder


@pytest.fixture(scope="module")
def expected(slides: Path, tmp_path_factory: pytest.TempPathFactory) -> SlideMap:
    """What the model says of the slide, made here."""
    predictor = Predictor.load(MODEL)
    return map_slide(open_slide(slides / "strips.tif"), predictor, tmp_path_factory.mktemp("map"), workers=1)


@pytest.fixture(scope="module")
def app_address(slides: Path) -> Iterator[str]:
    """An app with that folder, instead of the one that all other tests share."""
    with running_app(environment={"ELIMIPL_SLIDES": str(slides)}) as (address, _):
        yield address


class SeenSlide:
    """The viewer of a page, in pixels of the slide."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.root = page.locator(".viewer")

    def wait(self) -> None:
        """Until everything in view has been loaded and drawn."""
        expect(self.root).to_have_attribute("data-idle", "true", timeout=SLOW)
        self.page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def fact(self, name: str) -> float:
        return float(self.root.get_attribute(f"data-{name}"))

    def place(self, x: float, y: float) -> tuple[float, float]:
        """Where a point of the slide is on the canvas."""
        frame = self.page.locator("canvas.pane").first.bounding_box()
        scale = self.fact("scale")
        return (
            (x - self.fact("x")) * scale + frame["width"] / 2,
            (y - self.fact("y")) * scale + frame["height"] / 2,
        )

    def on_page(self, x: float, y: float) -> tuple[float, float]:
        frame = self.page.locator("canvas.pane").first.bounding_box()
        left, top = self.place(x, y)
        return frame["x"] + left, frame["y"] + top

    def colour(self, left: float, top: float) -> np.ndarray:
        """Of a point of the canvas."""
        script = "(canvas, [x, y]) => [...canvas.getContext('2d').getImageData(x, y, 1, 1).data].slice(0, 3)"
        canvas = self.page.locator("canvas.pane").first
        return np.array(canvas.evaluate(script, [int(left), int(top)]))

    def zoom_at(self, x: float, y: float, turns: int) -> None:
        """Turn the wheel over a point of the slide; positive turns zoom in."""
        self.page.mouse.move(*self.on_page(x, y))
        for _ in range(abs(turns)):
            self.page.mouse.wheel(0, -200 if turns > 0 else 200)
        self.page.wait_for_timeout(200)
        self.wait()


def check_slide_pixels(seen: SeenSlide) -> None:
    """The green line is where it belongs, and not beside it."""
    reach = max(3.0, seen.fact("scale") * 2)
    _, top = seen.place(LINE, 700)
    left, right = (seen.place(x, 0)[0] for x in (LINE, LINE + LINE_WIDTH))
    middle, *beside = (seen.colour(x, top) for x in ((left + right) / 2, left - reach, right + reach))
    assert middle[1] - middle[[0, 2]].max() > 60
    assert all(colour[1] - colour[[0, 2]].max() < 30 for colour in beside)


def check_overlay(seen: SeenSlide, expected: SlideMap) -> None:
    """On both sides of every edge of a tile in view, two pixels beside it, is the colour of the right class."""
    colours = [ImageColor.getrgb(colour) for colour in class_colours(expected.label_space)]
    box = seen.page.locator("canvas.pane").first.bounding_box()
    checked = 0
    for row in range(ROWS):
        for column in range(1, COLUMNS):
            before, after = expected.classes[row, column - 1], expected.classes[row, column]
            left, top = seen.place(column * TILE, (row + 0.5) * TILE)
            in_view = 10 < left < box["width"] - 10 and 60 < top < box["height"] - 60
            hidden = left > box["width"] - 200 and top < 200  # the overview lies there
            if not in_view or hidden or before == after or min(before, after) < 0:
                continue
            for shown, at in ((before, left - 2), (after, left + 2)):
                assert np.abs(seen.colour(at, top) - colours[shown]).max() <= 2, (row, column, at)
            checked += 1
    assert checked > 0


def test_a_slide_is_zoomed_mapped_measured_and_a_field_opened(page: Page, app_address: str, expected: SlideMap) -> None:
    tiles: list[str] = []
    sent: list[object] = []
    page.on("request", lambda request: tiles.append(request.url) if "slide-tiles" in request.url else None)
    page.on("websocket", lambda socket: socket.on("framesent", lambda frame: sent.append(frame)))
    page.goto(f"{app_address}/slide?generator=Row&labels=7+tissues&method=ELIMIPL")
    expect(page.locator(".viewer")).to_be_visible(timeout=SLOW)
    seen = SeenSlide(page)
    seen.wait()

    # To level 0 and back.
    whole = (seen.fact("scale"), seen.fact("level"))
    seen.zoom_at(LINE, 700, 6)
    assert seen.fact("scale") > 1
    assert seen.fact("level") == 0
    check_slide_pixels(seen)
    page.locator("canvas.pane").first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("-")
    seen.wait()
    check_slide_pixels(seen)
    page.keyboard.press("0")
    seen.wait()
    assert (seen.fact("scale"), seen.fact("level")) == whole

    # A map outlives a reload, and its tiles lie where they belong at three zooms.
    page.get_by_role("button", name="Map this slide").click()
    body = page.get_by_test_id("stMainBlockContainer")  # Streamlit has a Stop of its own at the top
    expect(body.get_by_role("button", name="Stop", exact=True)).to_be_visible(timeout=SLOW)
    page.reload()
    opacity = page.get_by_role("slider", name="Opacity of the map")
    expect(opacity).to_be_visible(timeout=SLOW)
    seen.wait()
    before = len(sent)
    opacity.fill("100")
    page.get_by_role("button", name="Class", exact=True).click()
    for turns in (0, 3, 3):
        seen.zoom_at(4 * TILE, 3.5 * TILE, turns)
        check_overlay(seen, expected)
    page.wait_for_timeout(300)
    assert len(sent) == before  # all of that without the server
    page.mouse.move(*seen.on_page(4.5 * TILE, 3.5 * TILE))
    name = expected.label_space.names[expected.classes[3, 4]]
    probability = expected.probability[3, 4]
    shown = int(round(100 * probability, 1) + 0.5)  # a browser rounds halves up
    expect(page.locator(".values")).to_contain_text(f"{name} {shown}")

    # A region and its numbers.
    page.locator("canvas.pane").first.focus()
    page.keyboard.press("0")
    seen.wait()
    page.get_by_role("button", name="Box", exact=True).click()
    page.mouse.move(*seen.on_page(2 * TILE, 1 * TILE))
    page.mouse.down()
    page.mouse.move(*seen.on_page(6 * TILE, 5 * TILE), steps=4)
    page.mouse.up()
    export = page.get_by_role("button", name="Regions as GeoJSON")
    expect(export).to_be_visible(timeout=SLOW)
    with page.expect_download(timeout=SLOW) as download:
        export.click()
    (region,) = json.loads(Path(download.value.path()).read_text(encoding="utf-8"))["features"]
    numbers = region["properties"]["measurements"]
    inside = np.zeros((ROWS, COLUMNS))
    inside[1:5, 2:6] = 1
    assert numbers["area mm²"] == pytest.approx((4 * 0.112) ** 2, rel=0.02)
    main, share = max(expected.shares(inside).items(), key=lambda pair: pair[1])
    assert numbers[f"share {main}"] == pytest.approx(share, abs=0.03)

    # On a telephone nothing sticks out.
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_timeout(500)
    seen.wait()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    frame = page.locator("canvas.pane").first.bounding_box()
    assert frame["x"] >= 0
    assert 300 < frame["width"] <= 390 - frame["x"]

    # Two fingers zoom: what was between them stays there, and nothing is chosen by it.
    before = seen.fact("scale")
    page.locator("canvas.pane").first.scroll_into_view_if_needed()
    pinch(page, seen.on_page(COLUMNS / 2 * TILE, ROWS / 2 * TILE), 40, 120)
    seen.wait()
    assert seen.fact("scale") == pytest.approx(3 * before, rel=0.02)
    between = (4.3 * TILE, 3.2 * TILE)
    middle = seen.on_page(*between)
    pinch(page, middle, 60, 90)
    seen.wait()
    assert seen.fact("scale") == pytest.approx(4.5 * before, rel=0.02)
    assert seen.on_page(*between) == pytest.approx(middle, abs=3)
    pinch(page, middle, 120, 20)
    seen.wait()
    assert seen.fact("scale") == pytest.approx(before)
    expect(page.get_by_role("button", name="Open this field in Explore")).to_have_count(0)
    page.set_viewport_size({"width": 1400, "height": 1000})
    page.wait_for_timeout(500)
    seen.wait()

    # A click chooses a field, which Explore then shows.
    page.mouse.click(*seen.on_page(3 * TILE, 4 * TILE))
    page.get_by_role("button", name="Open this field in Explore").click()
    expect(page.get_by_role("heading", name="Explore", exact=True)).to_be_visible(timeout=SLOW)
    expect(page.get_by_text(re.compile(r"Shown: field of a slide at 0\.3[34], 0\.4[45] mm"))).to_be_visible(
        timeout=SLOW
    )

    # Tiles are for this page only.
    assert statuses(tiles[0]) == [200, 404, 403]


def pinch(page: Page, middle: tuple[float, float], near: float, far: float) -> None:
    """Two fingers on a line, first `near` to the middle of them, then `far` from it."""
    touches = page.context.new_cdp_session(page)

    def fingers(kind: str, *aside: float) -> None:
        points = [{"x": middle[0] + one, "y": middle[1], "id": number} for number, one in enumerate(aside)]
        touches.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    touches.send("Emulation.setTouchEmulationEnabled", {"enabled": True, "maxTouchPoints": 2})
    fingers("touchStart", -near)
    fingers("touchStart", -near, near)
    for step in np.linspace(near, far, 9)[1:].tolist():
        fingers("touchMove", -step, step)
    fingers("touchEnd")
    touches.send("Emulation.setTouchEmulationEnabled", {"enabled": False})
    touches.detach()


def statuses(tile: str) -> list[int]:
    """What is answered for a tile, for the same tile under another key, and under a foreign host name."""
    other = re.sub(r"slide-tiles/[^/]+", "slide-tiles/" + 32 * "A", tile)
    asked = ((tile, {}), (other, {}), (tile, {"Host": "attacker.example"}))
    return [requests.get(address, headers=headers, timeout=60).status_code for address, headers in asked]
