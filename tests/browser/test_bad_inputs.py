"""A chosen dozen of the bad inputs, one after the other, by a person in a real Chromium."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from bag_generators.samples import list_samples
from scripts.bad_inputs.table import INPUTS, Outcome
from ui import wording

pytestmark = pytest.mark.browser
DOZEN = (
    "empty.png",
    "web-page.png",
    "pickle.png",
    "postscript-of-a-picture.png",
    "cut-at-50%.jpg",
    "one-flipped-byte.png",
    "bomb-15000.png",
    "endless-strips.tif",
    "text-of-20-megabytes.png",
    "whole-slide.svs.tif",
    "fully-transparent.png",
    "one-pixel.png",
    "four-pages.tif",
    "white.png",
)
NASTY_NAME = '"><img src=x onerror=alert(1)> **b** [l](http:example) =1+1.png'


def settled(page: Page) -> None:
    """Wait until the server has nothing left to send."""
    expect(page.get_by_test_id("stStatusWidget")).to_have_count(0, timeout=60_000)


def shown(page: Page) -> tuple[str, list[float]]:
    """The picture on the page and the bars beside it."""
    page.locator(".st-key-overlay .js-plotly-plot").first.wait_for(timeout=60_000)
    return page.evaluate(
        """() => [
            document.querySelector('.st-key-overlay .js-plotly-plot').layout.images[0].source,
            document.querySelector('.st-key-class-bars .js-plotly-plot')._fullData.flatMap(t => Array.from(t.x))
        ]"""
    )


def upload(page: Page, path: Path) -> None:
    """Choose a file and wait until the page names it and has come to rest."""
    page.locator("input[type=file]").set_input_files(path)
    expect(page.get_by_test_id("stSidebar").get_by_title(path.name)).to_be_visible(timeout=30_000)
    page.wait_for_timeout(300)
    settled(page)


def test_a_dozen_bad_inputs(page: Page, app_address: str, server_log: Path, tmp_path: Path) -> None:
    rows = {row.name: row for row in INPUTS}
    sample = next(sample for sample in list_samples() if sample.id == "phantom-lym")
    sound = tmp_path / NASTY_NAME
    sound.write_bytes((sample.folder / sample.file).read_bytes())
    page.goto(app_address)
    shown(page)
    upload(page, sound)
    expect(page.get_by_text(wording.UPLOAD_IN_USE)).to_be_visible(timeout=30_000)
    expect(page.locator("img[src=x]")).to_have_count(0)
    before = shown(page)
    for name in DOZEN:
        row = rows[name]
        path = tmp_path / name
        path.write_bytes(row.make())
        upload(page, path)
        said = page.get_by_test_id("stAlert").filter(has_text=row.says)
        expect(said, name).to_be_visible(timeout=30_000)
        expect(page.get_by_test_id("stException"), name).to_have_count(0)
        if row.outcome in (Outcome.REFUSED, Outcome.UNFIT):
            expect(page.get_by_text(wording.STILL_SHOWN), name).to_be_visible()
            assert shown(page) == before, name
        else:
            before = shown(page)
    upload(page, sound)
    expect(page.get_by_test_id("stAlertContentError")).to_have_count(0)
    log = server_log.read_text(encoding="utf-8", errors="replace")
    assert "Traceback" not in log
    assert "onerror" not in log
