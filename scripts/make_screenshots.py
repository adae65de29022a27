"""Take the pictures of the README from the running app, so that they stay true: assets/screenshots/*.png."""

import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from scripts.chromium import LAUNCH_ARGUMENTS, find_chromium
from scripts.running_app import running_app

ROOT = Path(__file__).resolve().parents[1]

FOLDER = ROOT / "assets" / "screenshots"
SHOTS = {
    "explore": "/?sample=Tumour+%28phantom%29&generator=SIFT",
    "lesson": "/lesson",
    "compare": "/compare",
}
COLOURS = 128  # a palette keeps each picture small


def take(page: Page, address: str, target: Path) -> None:
    page.goto(address)
    page.wait_for_selector(".js-plotly-plot", timeout=120_000)
    page.wait_for_selector("[data-testid=stStatusWidget]", state="detached", timeout=120_000)
    page.wait_for_timeout(1500)
    page.screenshot(path=target)
    Image.open(target).convert("RGB").quantize(COLOURS).save(target, optimize=True)


def main() -> None:
    chromium = find_chromium()
    if chromium is None:
        sys.exit("Screenshots need a Chromium. Install one, for example with: apt-get install chromium")
    FOLDER.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright, running_app() as (address, _):
        browser = playwright.chromium.launch(executable_path=chromium, args=list(LAUNCH_ARGUMENTS))
        page = browser.new_page(viewport={"width": 1440, "height": 1050})
        for name, path in SHOTS.items():
            take(page, address + path, FOLDER / f"{name}.png")
            print(f"{name}.png")
        browser.close()


if __name__ == "__main__":
    main()
