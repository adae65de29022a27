"""Who is visiting, the same before and after a reload, and what a browser finds again after one."""

import hashlib
import re
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from typing import Generic, TypeVar

import streamlit as st
from streamlit import config

_KEY = "visitor"
_SECRET = re.compile(r"[\w-]{43}", re.ASCII)


def cookie_name() -> str:
    """What the cookie that tells browsers apart is called: browsers send cookies to all ports of a host name."""
    return f"elimipl_visitor_{config.get_option('server.port')}"


def new_secret() -> str:
    """What a browser that comes for the first time is given to keep. No script of a page can read it (`Guard`)."""
    return secrets.token_urlsafe(32)


def known_secret(cookies: Mapping[str, str]) -> str | None:
    """What a browser was given, if it brings it."""
    secret = str(cookies.get(cookie_name(), ""))  # in tests of pages cookies are no text
    return secret if _SECRET.fullmatch(secret) else None


def visitor() -> str:
    """A name nobody can guess for the browser of this visit, or for the visit alone where there is no cookie.

    The visit ends with a reload; work in the background and a seat in a class belong to the browser. Who comes without
    a cookie is somebody new and takes nothing from anybody.
    """
    if _KEY not in st.session_state:
        secret = known_secret(st.context.cookies) or new_secret()
        st.session_state[_KEY] = hashlib.sha256(f"visitor{secret}".encode()).hexdigest()
    return str(st.session_state[_KEY])


T = TypeVar("T")
KEPT_SECONDS = 600.0  # after the visitor last looked at it


class KeptForVisitors(Generic[T]):
    """One thing of every visitor, found by `elimipl_app.server.visitor` only.

    Together they are at most `most` large by the measure `size`: those that nobody has looked at for longest make room.
    What is out of date goes by itself, though nobody comes.
    """

    def __init__(self, most: float, size: Callable[[T], float] = lambda _: 1.0) -> None:
        self._most, self._size = most, size
        self._kept: dict[str, tuple[T, float]] = {}  # the longest unused stands first
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None

    def keep(self, visitor: str, thing: T) -> None:
        """Keep a thing in place of the one before, or go on keeping it."""
        with self._lock:
            self._kept.pop(visitor, None)
            self._kept[visitor] = thing, time.monotonic()
            while len(self._kept) > 1 and sum(self._size(one) for one, _ in self._kept.values()) > self._most:
                del self._kept[next(iter(self._kept))]
            self._tidy_later()

    def of(self, visitor: str) -> T | None:
        """What is kept for this visitor."""
        with self._lock:
            thing, seen = self._kept.get(visitor, (None, 0.0))
            return thing if time.monotonic() - seen < KEPT_SECONDS else None

    def forget(self, visitor: str) -> None:
        """Drop what is kept for a visitor."""
        with self._lock:
            self._kept.pop(visitor, None)

    def drop_longest_unused(self) -> bool:
        """Let go of what nobody has looked at for longest; whether there was anything."""
        with self._lock:
            return bool(self._kept) and bool(self._kept.pop(next(iter(self._kept))))

    def __len__(self) -> int:
        return len(self._kept)

    def _tidy_later(self) -> None:
        if self._timer is None and self._kept:
            _, seen = next(iter(self._kept.values()))
            self._timer = threading.Timer(max(0.0, seen + KEPT_SECONDS - time.monotonic()), self._tidy)
            self._timer.daemon = True
            self._timer.start()

    def _tidy(self) -> None:
        with self._lock:
            now = time.monotonic()
            for name in [name for name, (_, seen) in self._kept.items() if now - seen >= KEPT_SECONDS]:
                del self._kept[name]
            self._timer = None
            self._tidy_later()
