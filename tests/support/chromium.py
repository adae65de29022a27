"""Find a Chromium for the browser tests and the screenshots: the system's, or the one Playwright downloaded.

As a program: find one, else install one, else say so and fail.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser

SYSTEM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
LAUNCH_ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--no-first-run",
)


def find_chromium() -> str | None:
    """Path of a Chromium, or None. The environment variable CHROMIUM overrides the search."""
    named = os.environ.get("CHROMIUM")
    if named:
        return named if Path(named).exists() else None
    for name in SYSTEM_NAMES:
        if found := shutil.which(name):
            return found
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() else None


@contextmanager
def open_browser() -> Iterator[Browser]:
    """A running Chromium; where there is none, the program ends with a sentence."""
    chromium = find_chromium()
    if chromium is None:
        sys.exit("This needs a Chromium. Install one, for example with: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=list(LAUNCH_ARGUMENTS))
        yield browser
        browser.close()


def main() -> int:
    installers = [[sys.executable, "-m", "playwright", "install", "chromium"]]
    if shutil.which("apt-get") and os.geteuid() == 0:
        with_apt = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium"]
        installers = [["apt-get", "update", "-qq"], with_apt, *installers]
    while not (found := find_chromium()) and installers:
        subprocess.run(installers.pop(0), check=False)
    told = f"using {found}" if found else "no Chromium could be found or installed; they will not run"
    sys.stdout.write(f"browser tests: {told}\n")
    return 0 if found else 1


if __name__ == "__main__":
    sys.exit(main())
