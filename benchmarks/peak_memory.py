"""The most memory that a process and its children take at any one time."""

from __future__ import annotations

from pathlib import Path
from threading import Event, Thread
from types import TracebackType


class PeakMemory:
    """Highest memory of a family of processes while the block runs, in bytes; shared pages count once (PSS).

    `own` is without the pages of files: those of a mapped file are the system's to take back when it needs them.
    """

    def __init__(self, process: int) -> None:
        self.highest = self.own = 0
        self._process = process
        self._done = Event()
        self._thread = Thread(target=self._watch, daemon=True)

    def __enter__(self) -> PeakMemory:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._done.wait(0.25):
            family = [_pss(one) for one in _family(self._process)]
            self.highest = max(self.highest, sum(whole for whole, _ in family))
            self.own = max(self.own, sum(own for _, own in family))


def _family(process: int) -> list[int]:
    try:
        tasks = list(Path(f"/proc/{process}/task").iterdir())
        children = [int(child) for task in tasks for child in (task / "children").read_text().split()]
    except OSError:
        return [process]
    return [process, *(one for child in children for one in _family(child))]


def _pss(process: int) -> tuple[int, int]:
    """All of a process, and its own without files, in bytes."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0, 0
    sizes = {line.split()[0]: 1024 * int(line.split()[1]) for line in lines[1:]}
    return sizes.get("Pss:", 0), sizes.get("Pss_Anon:", 0)
