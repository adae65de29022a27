"""The folder of slides: files are chosen by their names, and a name leads nowhere else."""

from __future__ import annotations

import os
from pathlib import Path

from bag_generators.errors import InputError
from bag_generators.formats import MOST_LISTED_SLIDES, slide_extensions
from bag_generators.slide.several_files import DICOM, dicom_in, series_of

VARIABLE = "ELIMIPL_SLIDES"


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
        slides = [
            entry.name
            for entry in shown
            if (entry.name.lower().endswith(known) if entry.is_file() else dicom_in(Path(entry.path)))
        ]
    except OSError:
        raise InputError("The folder of slides can't be read.", "Check its permissions.") from None
    return tuple(_once(folder, slides)[:most])


def slide_path(name: str, folder: Path | None = None) -> Path:
    """The file or folder of a listed slide; a name that is not on the list is refused, whatever it looks like."""
    folder = folder or slide_folder()
    if folder is None or name not in list_slides(folder):
        raise InputError(f"There is no slide “{name[:80]}” in the folder of slides.", "Choose one of the list.")
    return folder / name


def _once(folder: Path, names: list[str]) -> list[str]:
    """Without the further files of a DICOM slide."""
    seen, kept = set(), []
    for name in names:
        series = series_of(folder / name) if Path(name).suffix.lower() in DICOM else None
        if series is None or series not in seen:
            kept.append(name)
            seen.add(series)
    return kept
