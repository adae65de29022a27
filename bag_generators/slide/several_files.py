"""Slides that are several files: MIRAX, with a folder of the same name, and DICOM, with a file for each level."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

MIRAX = (".mrxs",)
DICOM = (".dcm",)
_SERIES = b"\x20\x00\x0e\x00UI"
"""Tag (0020,000E) and its kind; its length and text follow."""
_HEAD = 64 * 2**10
_MOST_LOOKED_AT = 40
"""Files of a folder; the levels of a slide are a dozen."""


def series_of(path: Path) -> bytes | None:
    """What is the same in all DICOM files of one slide; None where the file is no DICOM file or can't be read."""
    try:
        about = path.stat()
        return _series(str(path), about.st_mtime_ns, about.st_size)
    except (OSError, ValueError):
        return None


@lru_cache(maxsize=10_000)
def _series(path: str, *_: int) -> bytes | None:
    with Path(path).open("rb") as file:
        head = file.read(_HEAD)
    at = head.find(_SERIES)
    if head[128:132] != b"DICM" or at < 0:
        return None
    size = int.from_bytes(head[at + 6 : at + 8], "little")
    return head[at + 8 : at + 8 + size].rstrip(b"\0 ")


def dicom_in(folder: Path) -> Path | None:
    """The first DICOM file in a folder that is a slide as a whole; None where it is another folder."""
    try:
        names = sorted(entry.name for entry in os.scandir(folder) if not entry.name.startswith(".") and entry.is_file())
    except OSError:
        return None
    files = (folder / name for name in names[:_MOST_LOOKED_AT])
    return next((file for file in files if series_of(file) is not None), None)


def files_of(path: Path) -> tuple[Path, ...]:
    """All files of a slide, the one that is opened among them, always in the same order."""
    if path.suffix.lower() in MIRAX:
        folder = path.with_suffix("")
        inner = sorted(file for file in folder.iterdir() if file.is_file()) if folder.is_dir() else []
        return (path, *inner)
    series = series_of(path)
    if series is None:
        return (path,)
    return tuple(sorted(file for file in path.parent.iterdir() if series_of(file) == series))
