"""The most memory that a process and its children take at any one time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

import psutil


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
