"""How often one person may do something: looked up in memory, so that a flood never reaches the disk."""

import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable

MOST_KNOWN = 4096  # people remembered at once; the longest unseen are forgotten


class Pace:
    """Lets everybody do something `most` times within `seconds`."""

    def __init__(self, most: int, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._most, self._seconds, self._clock = most, seconds, clock
        self._times: OrderedDict[str, deque[float]] = OrderedDict()
        self._lock = threading.Lock()

    def is_exceeded(self, who: str) -> bool:
        """Whether this person has done it as often as allowed."""
        with self._lock:
            return len(self._recent(who)) >= self._most

    def note(self, who: str) -> None:
        """It was done once more."""
        with self._lock:
            self._recent(who).append(self._clock())

    def allows(self, who: str) -> bool:
        """Whether it may be done now; if so, it is noted."""
        with self._lock:
            times = self._recent(who)
            if len(times) >= self._most:
                return False
            times.append(self._clock())
            return True

    def _recent(self, who: str) -> "deque[float]":
        times = self._times.setdefault(who, deque())
        self._times.move_to_end(who)
        while times and times[0] <= self._clock() - self._seconds:
            times.popleft()
        while len(self._times) > MOST_KNOWN:
            self._times.popitem(last=False)
        return times
