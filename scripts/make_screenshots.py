"""Take the pictures of the README from the running app, so that they stay true: assets/screenshots/*.png.

python scripts/make_screenshots.py [--only explore slide]
"""

import argparse
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page

from bag_generators.slide.demo import write_demo_slide
from tests.support.chromium import open_browser
from tests.support.running_app import running_app

FOLDER = Path(__file__).resolve().parents[1] / "assets" / "screenshots"
SHOTS = {
    "explore": "/",
    "lesson": "/lesson?step=attention&epoch_attention=60",
    "compare": "/compare",
    "slide": "/slide?generator=deep&labels=phantoms&method=elimipl",
}
SLOW = 300_000  # ms


def take(page: Page, address: str, target: Path) -> None:
    page.goto(address)
    if target.stem == "slide":
        map_the_slide(page)
    else:
        page.wait_for_selector(".js-plotly-plot, .moving", timeout=SLOW)
    for unfinished in ("stStatusWidget", "stSkeleton"):
        page.wait_for_selector(f"[data-testid={unfinished}]", state="detached", timeout=SLOW)
    page.wait_for_timeout(1500)
    page.screenshot(path=target)
    Image.open(target).convert("RGB").quantize(256, Image.Quantize.MEDIANCUT).save(target, optimize=True)  # small


def map_the_slide(page: Page) -> None:
    """Have the slide mapped, look a little closer, and point at a tile."""
    page.get_by_role("button", name="Map this slide").click(timeout=SLOW)
    page.get_by_role("slider", name="Opacity of the map").wait_for(timeout=SLOW)
    viewer = page.locator('.viewer[data-idle="true"]')
    viewer.wait_for(timeout=SLOW)
    frame = page.locator("canvas.pane").first.bounding_box()
    page.mouse.move(frame["x"] + 0.45 * frame["width"], frame["y"] + 0.5 * frame["height"])
    page.mouse.wheel(0, -60)
    page.wait_for_timeout(1000)
    viewer.wait_for(timeout=SLOW)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=list(SHOTS), default=list(SHOTS))
    names = parser.parse_args().only
    with (
        tempfile.TemporaryDirectory() as slides,
        open_browser() as browser,
        running_app(environment={"ELIMIPL_SLIDES": slides}) as (address, _),
    ):
        write_demo_slide(Path(slides) / "phantom.tif")
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        for name in names:
            take(page, address + SHOTS[name], FOLDER / f"{name}.png")
            print(f"{name}.png")


if __name__ == "__main__":
    main()
