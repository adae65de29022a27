"""How fast and how light the Explore page is: first figure, clicks and uploads, bytes on the wire, shifts, memory.

The references in the same run are what Streamlit itself needs on an otherwise empty page, in the same browser against
the same kind of server: for a click that changes one number, and for the first visit to one Plotly figure. Bytes are
what the server sends over the WebSocket. The first figure is also given in seconds, with the load of the machine at
that time: cold is the first visit after the server started, warm a second visitor.

    python benchmarks/bench_app.py [--uploads 100]
"""

import argparse
import hashlib
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import cv2
import psutil
from playwright.sync_api import Browser, Page

from bag_generators.tissue import phantom
from benchmarks.measuring import write
from tests.support.chromium import open_browser
from tests.support.running_app import running_app

BARE_PAGE = """
import plotly.graph_objects as go
import streamlit as st
st.plotly_chart(go.Figure(go.Bar(x=[1, 2], y=[2, 1])), key="overlay")
st.plotly_chart(go.Figure(go.Bar(x=[1, 2], y=[1, 2])), key="class-bars")
st.button("more", key="more", on_click=lambda: st.session_state.update(n=st.session_state.get("n", 0) + 1))
st.write(f"clicked {st.session_state.get('n', 0)} times")
"""
ALLOWED = {
    "bytes": {"figures at 1000 px": 600_000, "patch click": 4_000},
    "first_figure": {"cold": 6.0, "warm": 1.5, "layout_shift": 0.05},
    "memory_growth_mb": 50,
}
SHIFT = """() => new Promise(done => { let sum = 0;
  new PerformanceObserver(list => { for (const one of list.getEntries()) if (!one.hadRecentInput) sum += one.value })
    .observe({type: 'layout-shift', buffered: true});
  setTimeout(() => done(sum), 300) })"""
DRAWN = "document.querySelector('.st-key-overlay .js-plotly-plot')"
BARS = "document.querySelector('.st-key-class-bars .js-plotly-plot')"


class Visitor:
    """A browser tab that counts what it is sent."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.frames: list[int] = []
        page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: self.frames.append(len(frame))))

    def idle(self) -> None:
        """Wait until the page has stopped running."""
        self.page.wait_for_timeout(30)
        self.page.wait_for_selector("[data-testid=stStatusWidget]", state="detached", timeout=120_000)

    def timed(self, act: Callable[[], object], until: str) -> tuple[float, int]:
        """Seconds and bytes from `act` until the JavaScript condition `until` holds and the page is idle."""
        self.frames.clear()
        start = time.perf_counter()
        act()
        self.page.wait_for_function(f"() => {until}", timeout=120_000)
        seconds = time.perf_counter() - start
        self.idle()
        return seconds, sum(self.frames)


def tile_file(folder: Path, seed: int, size: int) -> Path:
    """A drawn tile nobody has uploaded yet."""
    path = folder / f"{seed}-{size}.png"
    cv2.imwrite(str(path), cv2.cvtColor(phantom.draw("TUM", seed, size).pixels, cv2.COLOR_RGB2BGR))
    return path


def bare_click(page: Page, address: str, repeats: int) -> float:
    visitor = Visitor(page)
    page.goto(address)
    page.get_by_text("clicked 0 times").wait_for(timeout=60_000)
    page.wait_for_function(f"() => {DRAWN}", timeout=60_000)
    times = []
    for number in range(1, repeats + 1):
        wanted = f"document.body.innerText.includes('clicked {number} times')"
        times.append(visitor.timed(lambda: page.get_by_role("button", name="more").click(), wanted)[0])
    return statistics.median(times)


def first_figure(browser: Browser, address: str) -> tuple[float, float]:
    """Seconds until a new visitor sees the map and the bars, and how much the page shifted on the way."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    start = time.perf_counter()
    page.goto(address)
    page.wait_for_function(f"() => {DRAWN} && {DRAWN}._fullLayout && {BARS} && {BARS}._fullLayout", timeout=120_000)
    seconds = time.perf_counter() - start
    Visitor(page).idle()
    shift = float(page.evaluate(SHIFT))
    context.close()
    return seconds, shift


def upload(visitor: Visitor, path: Path) -> tuple[float, int]:
    """Upload a picture and wait until the page names it and its own figure, not the sample's, is drawn."""
    page, name = visitor.page, hashlib.sha256(path.read_bytes()).hexdigest()[:6]
    page.evaluate(f"() => {{ window.last = {DRAWN}.layout.images[0].source }}")
    named = f"document.body.innerText.includes('upload {name}')"
    drawn = f"{DRAWN} && {DRAWN}.layout && ![window.last, window.sample].includes({DRAWN}.layout.images[0].source)"
    return visitor.timed(lambda: page.locator("input[type=file]").set_input_files(path), f"{named} && {drawn}")


def explore(page: Page, address: str, process: subprocess.Popen[bytes], repeats: int, uploads: int) -> dict:
    visitor = Visitor(page)
    page.goto(address + "/?sample=phantom-tum&generator=sbn&labels=tissue7&whole=true")
    page.wait_for_function(f"() => {DRAWN}", timeout=120_000)
    visitor.idle()
    page.evaluate(f"() => {{ window.sample = {DRAWN}.layout.images[0].source }}")
    results: dict[str, dict[str, float]] = {}

    def keep(name: str, runs: list[tuple[float, int]]) -> None:
        results[name] = {
            "seconds": statistics.median(seconds for seconds, _ in runs),
            "bytes": statistics.median(count for _, count in runs),
        }

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        keep("upload 224 px", [upload(visitor, tile_file(folder, seed, 224)) for seed in range(repeats)])
        keep("figures at 1000 px", [upload(visitor, tile_file(folder, seed, 1000)) for seed in range(repeats)])
        page.wait_for_timeout(2000)  # the last picture may be drawn once more
        plot = page.locator(".st-key-overlay .nsewdrag").first

        def click(share: float, patch: int) -> tuple[float, int]:
            plot.scroll_into_view_if_needed()
            page.wait_for_timeout(600)  # two clicks at once are a double click, which selects no patch
            box = plot.bounding_box()
            at = box["x"] + share * box["width"], box["y"] + share * box["height"]
            return visitor.timed(lambda: page.mouse.click(*at), f"document.body.innerText.includes('Patch {patch} ·')")

        def switch(title: str, count: int) -> tuple[float, int]:
            choice = page.get_by_test_id("stSidebar").get_by_text(title, exact=True)
            return visitor.timed(choice.click, f"document.body.innerText.includes('of {count}')")

        keep("patch click", [click(*((0.6, 8), (0.4, 0))[number % 2]) for number in range(repeats)])
        keep("generator switch", [switch(*(("Row", 8), ("SIFT", 25))[number % 2]) for number in range(repeats)])
        for seed in range(10):  # what is loaded once is loaded now
            upload(visitor, tile_file(folder, 1000 + seed, 224))
        server = psutil.Process(process.pid)
        start = server.memory_info().rss
        for seed in range(uploads):
            upload(visitor, tile_file(folder, 2000 + seed, 224))
        results["memory"] = {"uploads": uploads, "growth_mb": (server.memory_info().rss - start) / 2**20}
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--uploads", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=7)
    arguments = parser.parse_args()
    with open_browser() as browser, tempfile.TemporaryDirectory() as folder:
        bare = Path(folder) / "bare.py"
        bare.write_text(BARE_PAGE, encoding="utf-8")
        with running_app(bare) as (address, _):
            reference = bare_click(browser.new_page(), address, arguments.repeats)
            bare_figure = statistics.median(first_figure(browser, address)[0] for _ in range(arguments.repeats))
        with running_app() as (address, process):
            cold, cold_shift = first_figure(browser, address)
            warm = [first_figure(browser, address) for _ in range(arguments.repeats)]
            first = {
                "cold": cold,
                "warm": statistics.median(seconds for seconds, _ in warm),
                "bare_page": bare_figure,
                "layout_shift_cold": cold_shift,
                "layout_shift": max(shift for _, shift in warm),
                "load_of_the_machine": os.getloadavg()[0],
            }
            page = browser.new_page(viewport={"width": 1400, "height": 1300})
            results = explore(page, address, process, arguments.repeats, arguments.uploads)
    memory = results.pop("memory")
    for result in results.values():
        result["ratio"] = result["seconds"] / reference
    report = {"reference": "a click on a bare Streamlit page", "reference_seconds": reference, "first_figure": first}
    write("app", report | {"actions": results, "memory": memory, "allowed": ALLOWED})


if __name__ == "__main__":
    main()
