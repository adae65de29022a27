"""The database file: where it lies, its tables, and a sentence for everything that can go wrong with it.

SQLite with a write-ahead log: what was written is there after a `kill -9` or a loss of power, several servers may
share the file, and readers never wait for writers.
"""

import errno
import os
import sqlite3
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from bag_generators import InputError

VARIABLE = "ELIMIPL_CLASSES"
VERSION = 3
PATIENCE = 10.0  # seconds to wait for somebody else who is writing
_KEPT_READERS = 8  # connections kept open; who comes when all are in use opens one more

_TABLES = """
CREATE TABLE session (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    code TEXT NOT NULL UNIQUE,
    link_key TEXT NOT NULL UNIQUE,
    teacher BLOB NOT NULL,
    return_key BLOB NOT NULL,
    created REAL NOT NULL,
    expires REAL NOT NULL,
    label_space TEXT NOT NULL,
    opened INTEGER NOT NULL DEFAULT 0,
    joining INTEGER NOT NULL DEFAULT 1,
    outcome TEXT,
    training TEXT,
    tries INTEGER NOT NULL DEFAULT 0,
    revealed INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE picture (
    session INTEGER NOT NULL REFERENCES session(id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    truth INTEGER,
    microns REAL,
    png BLOB NOT NULL,
    PRIMARY KEY (session, number)
);
CREATE TABLE student (
    session INTEGER NOT NULL REFERENCES session(id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    secret BLOB NOT NULL,
    PRIMARY KEY (session, number),
    UNIQUE (session, secret)
);
CREATE TABLE vote (
    session INTEGER NOT NULL REFERENCES session(id) ON DELETE CASCADE,
    student INTEGER NOT NULL,
    picture INTEGER NOT NULL,
    named INTEGER NOT NULL,
    top INTEGER NOT NULL,
    PRIMARY KEY (session, student, picture)
);
"""


def usual_path() -> Path:
    """The file that ELIMIPL_CLASSES names, or one in the folder where programs of this user keep their state."""
    if named := os.environ.get(VARIABLE):
        return Path(named)
    if sys.platform == "win32":
        folder = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        folder = Path.home() / "Library" / "Application Support"
    else:
        folder = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    return folder / "elimipl" / "classes.sqlite3"


class Database:
    """One connection that writes and a few that read; each `reading` or `writing` is whole or did not happen."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()  # of the writer
        self._writer: sqlite3.Connection | None = None
        self._readers: list[sqlite3.Connection] = []  # those that nobody uses
        self._opening = threading.Lock()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """See one state of the database, whatever others write meanwhile; a write that is stuck is not waited for."""
        with _sentences("The class could not be looked up"):
            try:
                reader = self._readers.pop()
            except IndexError:
                reader = self._open()
            try:
                with _transaction(reader, "DEFERRED"):
                    yield reader
            except sqlite3.Error:
                reader.close()
                raise
            except BaseException:
                self._put_back(reader)
                raise
            self._put_back(reader)

    @contextmanager
    def writing(self, what: str) -> Iterator[sqlite3.Connection]:
        """Change something; `what` begins the sentence when it can't be kept, such as “Your vote”."""
        failed = f"{what} could not be kept"
        if not self._lock.acquire(timeout=PATIENCE):
            raise _busy(failed)
        try:
            with _sentences(failed):
                if self._writer is None:
                    self._writer = self._open()
                with _transaction(self._writer, "IMMEDIATE"):
                    yield self._writer
        finally:
            self._lock.release()

    def empty_log(self) -> None:
        """Overwrite what deleted sessions left in the write-ahead log, unless another server is reading it."""
        with self._lock:
            if self._writer is not None:
                try:
                    self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                except sqlite3.Error:
                    return  # the next deletion tries again

    def close(self) -> None:
        """Let go of the file; the next use opens it again."""
        with self._lock:
            while self._readers:
                self._readers.pop().close()
            if self._writer is not None:
                self._writer.close()
                self._writer = None

    def _put_back(self, reader: sqlite3.Connection) -> None:
        if len(self._readers) < _KEPT_READERS:
            self._readers.append(reader)
        else:
            reader.close()

    def _open(self) -> sqlite3.Connection:
        with self._opening:  # a new file is given its tables by one of those who come together
            return self._opened()

    def _opened(self) -> sqlite3.Connection:
        if not self._path.parent.is_dir():
            self._path.parent.mkdir(parents=True, mode=0o700, exist_ok=True)
        with suppress(FileExistsError):
            # Private before the first byte is in it; its log files take the same rights. Never opened again here: to
            # close a file ends the locks that SQLite holds on it for the whole process.
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        connection = sqlite3.connect(self._path, PATIENCE, isolation_level=None, check_same_thread=False)
        try:
            connection.row_factory = sqlite3.Row
            _use_write_ahead_log(connection)
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("PRAGMA secure_delete = ON")
            if connection.execute("PRAGMA user_version").fetchone()[0] != VERSION:
                _prepare(connection)
        except BaseException:
            connection.close()
            raise
        return connection


def _use_write_ahead_log(connection: sqlite3.Connection) -> None:
    """SQLite itself waits for nobody here: where another server is just doing the same, it fails at once."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(0.01)


@contextmanager
def _transaction(connection: sqlite3.Connection, kind: str) -> Iterator[None]:
    connection.execute(f"BEGIN {kind}")
    try:
        yield
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.rollback()


@contextmanager
def _sentences(failed: str) -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise _sentence(failed, error) from None


def _prepare(connection: sqlite3.Connection) -> None:
    """Make the tables, unless another server has just done so; those of older versions are forgotten early."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if not 0 <= version <= VERSION:
            raise InputError(
                "The file of class sessions was made by another version of the app.",
                f"Move it away, or name another file with {VARIABLE}.",
            )
        if version != VERSION:
            for table in ("vote", "student", "picture", "session"):
                connection.execute(f"DROP TABLE IF EXISTS {table}")
            for statement in _TABLES.split(";"):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.rollback()


def _busy(failed: str) -> InputError:
    return InputError(f"{failed}: the server is busy.", "Try again in a moment.")


def _sentence(failed: str, error: Exception) -> InputError:
    """No path and no text of SQLite's: students read it."""
    code = getattr(error, "sqlite_errorcode", None)
    primary = None if code is None else code & 0xFF
    if primary == sqlite3.SQLITE_FULL or getattr(error, "errno", None) == errno.ENOSPC:
        return InputError(f"{failed}: the server's disk is full.", "Tell the teacher; what was kept before is safe.")
    if primary in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return _busy(failed)
    if primary in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
        return InputError(f"{failed}: the file of class sessions is damaged.", "Move it away and start a new session.")
    return InputError(
        f"{failed}: the server can't use its file of class sessions.",
        f"See that the folder can be written to, or name another file with {VARIABLE}.",
    )
