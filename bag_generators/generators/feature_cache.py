"""Features that were computed once, found again by the content they were computed from.

One SQLite file in a folder that somebody named, for any number of processes; none where nobody did: pictures that
visitors upload leave no trace. A file that is damaged, full or in use costs time, never a result.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

import numpy as np

FOLDER = "BAG_GENERATORS_CACHE"
"""The environment variable that names the folder; worker processes inherit it."""
LARGEST = "BAG_GENERATORS_CACHE_MB"
_USUAL_LARGEST = 4096  # MB; the Deep features of 100,000 tiles of 224 px take 900
_CHECK_EVERY = 256  # entries written between two looks at the size of the file
_FILE = "features.sqlite"
_PATIENCE = 30.0  # seconds to wait for another process that writes
_TABLE = "CREATE TABLE IF NOT EXISTS features (key BLOB PRIMARY KEY, width INTEGER, content BLOB, sum BLOB)"


def cached(
    pictures: Sequence[np.ndarray], made_by: str, compute: Callable[[Sequence[np.ndarray]], Sequence[np.ndarray]]
) -> list[np.ndarray]:
    """The (n, d) float32 features that `compute` makes of each picture's pixels, from the cache where they are in it.

    `made_by` names everything else they depend on: the network and its parameters.
    """
    named = os.environ.get(FOLDER, "").strip()
    if not named:
        return list(compute(pictures))
    cache = opened(Path(named), os.getpid())
    keys = [_key(pixels, made_by) for pixels in pictures]
    found = {key: features for key in keys if (features := cache.get(key)) is not None}
    missing = {key: pixels for key, pixels in zip(keys, pictures, strict=True) if key not in found}
    if missing:
        for key, features in zip(missing, compute(list(missing.values())), strict=True):
            cache.put(key, features)
            found[key] = features
    return [found[key] for key in keys]


def _key(pixels: np.ndarray, made_by: str) -> bytes:
    key = hashlib.sha256(f"{made_by} {pixels.shape} {pixels.dtype}".encode())
    key.update(np.ascontiguousarray(pixels).data)
    return key.digest()


class FeatureCache:
    """A bounded table of features; the oldest entries make room for new ones."""

    def __init__(self, folder: Path) -> None:
        self._lock = threading.Lock()
        self._written = 0
        self._most_pages = 0
        self._file: sqlite3.Connection | None = None
        with suppress(sqlite3.Error, OSError, ValueError):
            folder.mkdir(parents=True, exist_ok=True)
            try:
                self._file = self._connected(folder / _FILE)
            except sqlite3.DatabaseError:  # not a database, or a damaged one: start anew
                (folder / _FILE).unlink()
                self._file = self._connected(folder / _FILE)

    def _connected(self, path: Path) -> sqlite3.Connection:
        file = sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False)
        file.execute("PRAGMA journal_mode=WAL")  # others read while one writes
        file.execute("PRAGMA synchronous=NORMAL")
        file.execute(_TABLE)
        size = int(file.execute("PRAGMA page_size").fetchone()[0])
        self._most_pages = int(float(os.environ.get(LARGEST) or _USUAL_LARGEST) * 2**20) // size
        return file

    def get(self, key: bytes) -> np.ndarray | None:
        """The features under `key`, whole and unchanged, or None."""
        with self._lock, suppress(sqlite3.Error):
            if self._file is None:
                return None
            row = self._file.execute("SELECT width, content, sum FROM features WHERE key = ?", (key,)).fetchone()
            if row is not None and _sum(row[1]) == row[2]:
                return np.frombuffer(row[1], np.float32).reshape(-1, row[0])
        return None

    def put(self, key: bytes, features: np.ndarray) -> None:
        """Keep (n, d) float32 features."""
        content = np.ascontiguousarray(features, np.float32).tobytes()
        with self._lock, suppress(sqlite3.Error):
            if self._file is None:
                return
            entry = key, features.shape[1], content, _sum(content)
            self._file.execute("INSERT OR REPLACE INTO features VALUES (?, ?, ?, ?)", entry)
            self._written += 1
            if self._written % _CHECK_EVERY == 1:
                self._make_room()

    def _make_room(self) -> None:
        """Forget the oldest eighth where the file is as large as it may be; what follows takes their place in it."""
        assert self._file is not None
        pages, unused = (
            self._file.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count")
        )
        if pages - unused > self._most_pages:
            self._file.execute(
                "DELETE FROM features WHERE rowid IN (SELECT rowid FROM features ORDER BY rowid LIMIT "
                "(SELECT COUNT(*) / 8 + 1 FROM features))"
            )


@lru_cache(maxsize=2)
def opened(folder: Path, _process: int) -> FeatureCache:
    """The cache in a folder, opened once per process: a connection must not pass into a forked one."""
    return FeatureCache(folder)


def _sum(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=8).digest()
