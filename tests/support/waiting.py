"""Tests wait for the thing, not for the clock: how long it takes depends on what else the machine does."""

import asyncio
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

PATIENCE = 240.0
"""Seconds after which nobody believes any more that it will happen; below pytest's own limit for a test."""


def wait_until(happened: Callable[[], object]) -> None:
    """Return as soon as it has happened."""
    deadline = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.01)


def awaited(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """What a coroutine gives, also in a process where a browser's loop runs: in a thread of its own."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result()
