"""How much memory and time one read may take in a process that is there for reading."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_SIZES = Path("/proc/self/statm")


@contextmanager
def limited(seconds: float, more_bytes: int) -> Iterator[None]:
    """End this process when what follows takes longer; refuse it memory beyond what it has now and `more_bytes`.

    A library that hangs in C can't be interrupted otherwise, and one that gets no memory mostly ends the process
    itself. For worker processes only, whose caller sees them end.
    """
    if os.name != "posix":
        yield
        return
    import resource

    unlimited = resource.getrlimit(resource.RLIMIT_AS)
    with suppress(OSError, ValueError):  # no /proc, or a limit of the system that is lower
        taken = int(_SIZES.read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (taken + more_bytes, unlimited[1]))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        resource.setrlimit(resource.RLIMIT_AS, unlimited)
