"""How many threads torch computes with."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

_lock = threading.Lock()
_own = threading.local()
_inside = 0
_outside_threads = 1
"""How many threads torch had before the first of those that are inside came."""


@contextmanager
def one_thread() -> Iterator[None]:
    """Run torch on one thread: several wait for each other, on a busy machine many times as long as they work.

    Sums also come out the same on every machine then. The number belongs to the thread that sets it, but threads that
    use torch for the first time take it over: what a thread finds while another one is inside is not to be restored.
    """
    global _inside, _outside_threads
    import torch

    if getattr(_own, "is_inside", False):
        yield
        return
    with _lock:
        found = torch.get_num_threads()  # a thread that asks for the first time would forget what it is told before
        _outside_threads = _outside_threads if _inside else found
        _inside += 1
        torch.set_num_threads(1)
    _own.is_inside = True
    try:
        yield
    finally:
        _own.is_inside = False
        with _lock:
            _inside -= 1
            torch.set_num_threads(_outside_threads)
