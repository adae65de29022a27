"""Write a file all or nothing: a crash or a full disk never leaves half a file under its name."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock

from bag_generators.errors import InputError


def check_writable(path: Path, what: str) -> None:
    """Refuse now, before hours of work, a place where `write_whole` would fail later. Nothing is left there."""
    nearest = next(folder for folder in path.parents if folder.exists())
    try:
        with tempfile.TemporaryFile(dir=nearest):
            pass
    except OSError as error:
        raise _refusal(path, what, error) from None


def write_whole(path: Path, content: bytes, what: str) -> None:
    """Put `content` into `path`; `what` names the thing in the refusal, such as “The model card”."""
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp", delete=False) as file:
            temporary = Path(file.name)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(0o644)  # temporary files start private
        temporary.replace(path)
    except OSError as error:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
        raise _refusal(path, what, error) from None


@contextmanager
def only_writer(path: Path, what: str) -> Iterator[None]:
    """Wait until no other process is between reading and writing `path`, and keep others out meanwhile."""
    lock = FileLock(path.with_name(f".{path.name}.lock"))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except OSError as error:
        raise _refusal(path, what, error) from None
    try:
        yield
    finally:
        lock.release()


def _refusal(path: Path, what: str, error: OSError) -> InputError:
    return InputError(
        f"{what} could not be written to “{path}” ({error.strerror}).",
        "Choose a folder that you may write to and that has space left.",
    )
