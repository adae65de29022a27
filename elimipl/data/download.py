"""Fetch one large file: continued where it broke off, checked, and never half there under its own name."""

from __future__ import annotations

import errno
import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path

from bag_generators.errors import InputError
from elimipl.data.http_parts import BrokenOffError, open_url

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much is done, and how much there is (0 where nobody knows yet)."""

_FRUITLESS = 3  # broken connections in a row that brought nothing, before giving up
_BLOCK = 1 << 22


def download(url: str, path: Path, size: int, md5: str, progress: Progress | None = None) -> Path:
    """Fetch `size` bytes with the checksum `md5` (hex) from `url` to `path`.

    What has come so far lies beside it in a `.part` file, from which the next call goes on. A file that is
    already there and whole is not fetched again.
    """
    report = progress or (lambda what, done, total: None)
    part = path.with_name(path.name + ".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            if path.stat().st_size == size and _md5_of(path, size, report) == md5:
                return path
            raise InputError(f"“{path}” is there already but is another file.", "Move it away and try again.")
        _make_room(part, size)
        _complete(url, part, size, report)
        if _md5_of(part, size, report) != md5:
            part.unlink()
            raise InputError(
                "The file came in full but its checksum is wrong, so it was thrown away.", "Fetch it again."
            )
        part.replace(path)
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise InputError(f"The disk of “{path.parent}” is full.", "Make room: it goes on where it was.") from None
        raise InputError(
            f"“{path}” could not be written ({error.strerror}).", "Choose a folder that you may write to."
        ) from None
    return path


def _make_room(part: Path, size: int) -> None:
    missing = size - (part.stat().st_size if part.exists() else 0)
    free = shutil.disk_usage(part.parent).free
    if missing > free:
        raise InputError(
            f"{missing / 1e9:.1f} GB are still to come, but only {free / 1e9:.1f} GB are free in “{part.parent}”.",
            "Make room or choose another folder.",
        )


def _complete(url: str, part: Path, size: int, report: Progress) -> None:
    """Append to `part` until it has `size` bytes."""
    if part.exists() and part.stat().st_size > size:
        part.unlink()
    fruitless = 0
    while (have := part.stat().st_size if part.exists() else 0) < size:
        report("fetching", have, size)
        try:
            _append(url, part, have, size, report)
        except BrokenOffError:
            fruitless = 0 if part.stat().st_size > have else fruitless + 1
        if fruitless == _FRUITLESS:
            raise InputError(
                f"The connection broke off after {have} of {size} bytes.", "Start again: it goes on where it was."
            )


def _append(url: str, part: Path, have: int, size: int, report: Progress) -> None:
    with open_url(url, have if have else None) as reply:
        if reply.total not in (size, None) or reply.start not in (0, have):
            raise InputError(
                f"The file on the server is not the one announced ({reply.total} instead of {size} bytes).",
                "Try again later.",
            )
        # A server that can't continue sends the file from the start.
        with part.open("ab" if reply.start == have else "wb") as file:
            done = reply.start
            for chunk in reply.chunks():
                done += len(chunk)
                if done > size:
                    raise InputError("The server sends more than it announced.", "Try again later.")
                file.write(chunk)
                report("fetching", done, size)
    if done < size:
        raise BrokenOffError


def _md5_of(path: Path, size: int, report: Progress) -> str:
    # Zenodo publishes MD5. It guards against broken transfers, not against forgery: that is the task of HTTPS.
    digest = hashlib.md5(usedforsecurity=False)
    done = 0
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
            done += len(block)
            report("checking", done, size)
    return digest.hexdigest()
