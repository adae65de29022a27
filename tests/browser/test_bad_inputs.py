"""Some of the bad inputs, one after the other, by a person in a real Chromium."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from bag_generators.tissue.samples import list_samples
from elimipl_app.inputs.picture import STILL_SHOWN
from tests.support.bad_inputs import INPUTS, Outcome

pytestmark = pytest.mark.browser
# Of each outcome, and of what a browser could treat differently: nothing, text, half a picture, a bomb, many megabytes.
CHOSEN = (
    "empty.png",
    "web-page.png",
    "cut-at-50%.jpg",
    "bomb-9000.png",
    "text-of-20-megabytes.png",
    "one-pixel.png",
    "four-pages.tif",
    "screenshot.png",
)
NASTY_NAME = '"><img src=x onerror=alert(1)> **b** [l](http:example) =1+1.png'


SHOWN = """() => {
    const [map, bars] = ['overlay', 'class-bars'].map(k => document.querySelector(`.st-key-${k} .js-plotly-plot`));
    const drawn = map && bars && map.layout && map.layout.images && bars._fullData;
    return drawn ? [map.layout.images[0].source, bars._fullData.flatMap(trace => Array.from(trace.x))] : null;
}"""


def shown(page: Page) -> list:
    """The picture on the page and the bars beside it, once the page has come to rest."""
    page.wait_for_function(SHOWN, timeout=60_000)
    before = None
    for _ in range(150):
        expect(page.get_by_test_id("stStatusWidget")).to_have_count(0, timeout=60_000)
        now = page.evaluate(SHOWN)
        if now is not None and now == before:
            return now
        before = now
        page.wait_for_timeout(200)
    raise AssertionError("the page never came to rest")


def shown_instead_of(page: Page, before: list) -> list:
    """The same, once it is another picture."""
    page.wait_for_function(f"before => (({SHOWN})() || [before])[0] !== before", arg=before[0], timeout=60_000)
    return shown(page)


def upload(page: Page, path: Path) -> None:
    """Choose a file and wait until the page names it."""
    page.locator("input[type=file]").set_input_files(path)
    expect(page.get_by_test_id("stSidebar").get_by_title(path.name)).to_be_visible(timeout=60_000)


def test_some_bad_inputs(page: Page, app_address: str, server_log: Path, tmp_path: Path) -> None:
    rows = {row.name: row for row in INPUTS}
    sample = next(sample for sample in list_samples() if sample.id == "phantom-lym")
    sound = tmp_path / NASTY_NAME
    sound.write_bytes((sample.folder / sample.file).read_bytes())
    page.goto(app_address)
    first = shown(page)
    upload(page, sound)
    expect(page.get_by_text("Shown: upload")).to_be_visible(timeout=60_000)
    expect(page.locator("img[src=x]")).to_have_count(0)
    before = shown_instead_of(page, first)
    for name in CHOSEN:
        row = rows[name]
        path = tmp_path / name
        path.write_bytes(row.make())
        upload(page, path)
        place = page.locator(".st-key-answer") if row.outcome is Outcome.DOUBTED else page.get_by_test_id("stAlert")
        said = place.filter(has_text=row.says)
        expect(said, name).to_be_visible(timeout=60_000)
        expect(page.get_by_test_id("stException"), name).to_have_count(0)
        if row.outcome in (Outcome.REFUSED, Outcome.UNFIT):
            expect(page.get_by_text(STILL_SHOWN), name).to_be_visible()
            assert shown(page) == before, name
        else:
            before = shown_instead_of(page, before)
    upload(page, sound)
    expect(page.get_by_test_id("stAlertContentError")).to_have_count(0, timeout=60_000)
    shown_instead_of(page, before)
    page.wait_for_function(
        "() => Array.from(document.images).every(one => one.complete && one.naturalWidth > 0)", timeout=60_000
    )
    log = server_log.read_text(encoding="utf-8", errors="replace")
    assert "Traceback" not in log
    assert "onerror" not in log
