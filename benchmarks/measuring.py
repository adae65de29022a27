"""What benchmarks share: seconds, the most memory that a family of processes takes, and the file of results."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any

import psutil

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"
DATA = ROOT.parent / "shared" / "data"
MACHINE = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"


def earlier(name: str) -> dict[str, Any]:
    """What an earlier run wrote, or nothing."""
    path = RESULTS / f"{name}.json"
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else {}


def write(name: str, report: Mapping[str, Any]) -> None:
    """Print what was measured and write the file of results."""
    text = json.dumps(report, indent=2, ensure_ascii=False)
    (RESULTS / f"{name}.json").write_text(text + "\n", encoding="utf-8")
    print(f"{text}\nwritten to benchmarks/results/{name}.json")


def seconds_of(action: Callable[[], object]) -> float:
    """How long it takes."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


class Peak:
    """Highest memory in bytes; shared pages count once (PSS). `own` is without the pages of files."""

    highest = own = 0

    def look(self, process: int) -> None:
        """Note what the family takes just now."""
        whole = own = 0
        try:
            parent = psutil.Process(process)
            for one in (parent, *parent.children(recursive=True)):
                taken = one.memory_full_info()
                whole, own = whole + taken.pss, own + taken.rss - taken.shared
        except psutil.Error:
            return  # one of them has just ended
        self.highest, self.own = max(self.highest, whole), max(self.own, own)


@contextmanager
def peak_memory(process: int) -> Iterator[Peak]:
    """Watch a family of processes while the block runs."""
    peak, done = Peak(), Event()

    def watch() -> None:
        while not done.wait(0.25):
            peak.look(process)

    thread = Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield peak
    finally:
        done.set()
        thread.join()
