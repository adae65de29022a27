"""Where this server keeps files of visitors while it runs: gone when it ends, by the next one where it was killed.

Streamlit's server ends by the signal it was sent, so that nothing registered with `atexit` runs; after a `kill -9`
nothing runs at all. A lock that the system releases with the process tells folders of dead servers from those in use.
"""

import os
import shutil
import tempfile
import threading
import time
from pathlib import Path

from filelock import FileLock, Timeout

from bag_generators import InputError

PREFIX = "elimipl-slides-"
_LOCK = ".in-use"
_BEING_MADE_SECONDS = 3600.0  # a folder without a lock may be one that is just being made
_held: list[tuple[tempfile.TemporaryDirectory[str], FileLock]] = []
_making = threading.Lock()


def work_folder() -> Path:
    """A folder of this program alone."""
    with _making:
        if not _held:
            try:
                folder = tempfile.TemporaryDirectory(prefix=PREFIX, ignore_cleanup_errors=True)
                lock = FileLock(Path(folder.name) / _LOCK, thread_local=False)
                lock.acquire(timeout=0)
            except OSError:
                raise InputError(
                    "The server has no place to keep files: its disk is full, or may not be written to.",
                    "Ask who runs the server to make room in its folder for temporary files.",
                ) from None
            _held.append((folder, lock))
        return Path(_held[0][0].name)


def remove_work_folder() -> None:
    """Delete the folder of this program with all that visitors brought; call it when the server ends."""
    with _making:
        while _held:
            folder, lock = _held.pop()
            folder.cleanup()
            lock.release()


def remove_left_folders() -> int:
    """Delete what servers that were killed left behind; how many folders those were."""
    removed = 0
    with os.scandir(tempfile.gettempdir()) as entries:
        found = [entry for entry in entries if entry.name.startswith(PREFIX)]
    for entry in found:
        try:
            about = entry.stat(follow_symlinks=False)
            is_own = entry.is_dir(follow_symlinks=False) and (os.name != "posix" or about.st_uid == os.getuid())
            if is_own and _is_left(Path(entry.path), about.st_mtime):
                shutil.rmtree(entry.path, ignore_errors=True)
                removed += 1
        except OSError:
            continue  # somebody else removes it
    return removed


def _is_left(folder: Path, changed: float) -> bool:
    lock = folder / _LOCK
    if not lock.is_file() or lock.is_symlink():
        return time.time() - changed > _BEING_MADE_SECONDS
    try:
        with FileLock(lock, timeout=0):
            return True
    except Timeout:
        return False
