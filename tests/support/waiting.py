"""Tests wait for the thing, not for the clock: how long it takes depends on what else the machine does."""

import time
from collections.abc import Callable

PATIENCE = 240.0
"""Seconds after which nobody believes any more that it will happen; below pytest's own limit for a test."""


def wait_until(happened: Callable[[], object]) -> None:
    """Return as soon as it has happened."""
    deadline = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.01)
