"""Find a Chromium for the browser tests and the screenshots: the system's, or the one Playwright downloaded."""

import os
import shutil
from pathlib import Path

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
    return _playwright_chromium()


def _playwright_chromium() -> str | None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() else None
