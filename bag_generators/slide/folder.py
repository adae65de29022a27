"""The folder of slides: files are chosen by their names, and a name leads nowhere else.

Some slides are several files: MIRAX, with a folder of the same name, and DICOM, with a file for each level.
"""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

from bag_generators.base.errors import InputError
from bag_generators.base.formats import MOST_LISTED_SLIDES, slide_extensions

VARIABLE = "ELIMIPL_SLIDES"
MIRAX = (".mrxs",)
DICOM = (".dcm",)
_SERIES = b"\x20\x00\x0e\x00UI"
"""Tag (0020,000E) and its kind; its length and text follow."""
_HEAD = 64 * 2**10
_MOST_LOOKED_AT = 40
"""Files of a folder; the levels of a slide are a dozen."""


def slide_folder() -> Path | None:
    """The folder that the environment variable ELIMIPL_SLIDES (or `elimipl app --slides`) names; None without it."""
    named = os.environ.get(VARIABLE, "").strip()
    if not named:
        return None
    folder = Path(named).expanduser()
    if not folder.is_dir():
        raise InputError(f"The folder of slides “{folder.name}” is not there.", f"Set {VARIABLE} to a folder.")
    return folder


def list_slides(folder: Path | None = None, most: int | None = MOST_LISTED_SLIDES) -> tuple[str, ...]:
    """The names of the slides and pictures in the folder (default: `slide_folder`), sorted; empty without a folder.

    A DICOM slide is listed once: by its folder's name, or by its first file where its files lie among others.
    """
    folder = folder or slide_folder()
    if folder is None:
        return ()
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: (entry.name.casefold(), entry.name))
        shown = [entry for entry in entries if not entry.name.startswith(".") and entry.name.isprintable()]
        known = slide_extensions()
        slides = [entry.name for entry in shown if not entry.is_symlink() and _is_slide(entry, known)]
    except OSError:
        raise InputError("The folder of slides can't be read.", "Check its permissions.") from None
    firsts: dict[bytes | str, str] = {}  # without the further files of a DICOM slide
    for name in slides:
        series = series_of(folder / name) if Path(name).suffix.lower() in DICOM else None
        firsts.setdefault(series or name, name)
    return tuple(firsts.values())[:most]


def _is_slide(entry: os.DirEntry[str], known: tuple[str, ...]) -> bool:
    """Whether a file, or a folder, is a slide of this folder itself; a link may lead out of it, or to itself."""
    if not entry.is_file(follow_symlinks=False):
        return dicom_in(Path(entry.path)) is not None
    leads_out = entry.name.lower().endswith(MIRAX) and Path(entry.path).with_suffix("").is_symlink()
    return entry.name.lower().endswith(known) and not leads_out


def slide_path(name: str, folder: Path | None = None) -> Path:
    """The file or folder of a listed slide; a name that is not on the list is refused, whatever it looks like."""
    folder = folder or slide_folder()
    if folder is None or name not in list_slides(folder):
        raise InputError(f"There is no slide “{name[:80]}” in the folder of slides.", "Choose one of the list.")
    return folder / name


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
        names = sorted(
            entry.name
            for entry in os.scandir(folder)
            if not entry.name.startswith(".") and entry.is_file(follow_symlinks=False)
        )
    except OSError:
        return None
    files = (folder / name for name in names[:_MOST_LOOKED_AT])
    return next((file for file in files if series_of(file) is not None), None)


def files_of(path: Path) -> tuple[Path, ...]:
    """All files of a slide, the one that is opened among them, always in the same order."""
    if path.suffix.lower() in MIRAX:
        folder = path.with_suffix("")
        inner = (
            sorted(file for file in folder.iterdir() if file.is_file() and not file.is_symlink())
            if folder.is_dir()
            else []
        )
        return (path, *inner)
    series = series_of(path)
    if series is None:
        return (path,)
    files = (file for file in path.parent.iterdir() if file == path or not file.is_symlink())
    return tuple(sorted(file for file in files if series_of(file) == series))
