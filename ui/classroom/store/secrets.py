"""Codes to type, keys in links, secrets that are kept as digests only, and how often one person may try."""

import hashlib
import hmac
import secrets
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable

LETTERS = "23456789ABCDEFGHJKMNPQRSTVWXYZ"  # no 0 and O, no 1, I and L, no U: read aloud and from far away
CODE_LENGTH = 8  # 30^8 = 6.6e11 codes, of which at most MOST_SESSIONS are in use
_LONGEST_TYPED = 200
MOST_KNOWN = 4096  # people remembered at once; the longest unseen are forgotten


def new_code() -> str:
    """A code for students to type."""
    return "".join(secrets.choice(LETTERS) for _ in range(CODE_LENGTH))


def new_key() -> str:
    """128 random bits for a link, or to come back as the teacher."""
    return secrets.token_urlsafe(16)


def as_shown(code: str) -> str:
    """A code in two halves, which are easier to read.

    >>> as_shown("ABCD2345")
    'ABCD-2345'
    """
    return f"{code[: CODE_LENGTH // 2]}-{code[CODE_LENGTH // 2 :]}"


def as_typed(text: str) -> str:
    """What somebody typed as a code, without blanks and hyphens; empty where it can't be one.

    >>> as_typed(" abcd-2345 "), as_typed("<script>")
    ('ABCD2345', '')
    """
    plain = "".join(text[:_LONGEST_TYPED].upper().split()).replace("-", "")
    return plain if len(plain) == CODE_LENGTH and set(plain) <= set(LETTERS) else ""


def digest(role: str, secret: str) -> bytes:
    """What is kept of a secret; the same secret in another role has another digest."""
    return hashlib.sha256(f"{role}\0{secret}".encode("utf-8", "surrogatepass")).digest()


def is_same(one: bytes, other: bytes) -> bool:
    """Whether two digests are equal, in a time that does not tell how much of them is."""
    return hmac.compare_digest(one, other)


class Pace:
    """Lets everybody do something `most` times within `seconds`; in memory, so that a flood never reaches the disk."""

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
