"""How much memory a method may plan with."""

from __future__ import annotations

import os
from pathlib import Path

_SHARE = 0.6  # of what is free: other programs run, and libraries need work space
_CGROUP = Path("/sys/fs/cgroup")


def usable_bytes() -> int:
    """A cautious share of the memory that is free now, container limits included."""
    free = _free_of_machine()
    limited = _free_of_container()
    return int(_SHARE * (free if limited is None else min(free, limited)))


def _free_of_machine() -> int:
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration):
        pass
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, OSError, ValueError):
        return 2 * 1024**3


def _free_of_container() -> int | None:
    try:
        limit, used = ((_CGROUP / f"memory.{name}").read_text(encoding="ascii").strip() for name in ("max", "current"))
    except OSError:
        return None
    return None if limit == "max" else max(int(limit) - int(used), 0)
