"""Bags from a zip file of class folders that somebody sent.

Everything is read in memory and nothing is unpacked to disk, so no name in the zip file ever becomes a path.
What a file unpacks to is counted while it is read: the sizes a zip file states about itself prove nothing.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

import numpy as np

from bag_generators import Bag, InputError, generate
from bag_generators.formats import (
    MAX_BYTES,
    MAX_PIXELS,
    MOST_ZIP_BYTES,
    MOST_ZIP_CLASSES,
    MOST_ZIP_ENTRIES,
    MOST_ZIP_PICTURES,
    MOST_ZIP_PIXELS,
    extensions,
)
from bag_generators.tissue.quality import measure_for
from bag_generators.uploads import read_upload, size_of_upload
from elimipl.data.tiles import space_of
from elimipl.dataset import BagDataset

LONGEST_NAME = 60

_CALLED = "the zip file"
_BROKEN = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, NotImplementedError, ValueError)
_DIRECTORY_ENTRY = b"PK\x01\x02"
# What else a zip file can be packed with asks for gigabytes of memory before the first byte comes out.
_PACKINGS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2)


@dataclass(frozen=True)
class ZipBags:
    """The data set, and the pictures that could not be used with the reason for each."""

    dataset: BagDataset
    refused: tuple[tuple[str, InputError], ...]
    qualities: tuple[dict[str, float], ...]
    """Pixel measures of the pictures that were used."""


def bags_from_zip(
    content: bytes, generator: str, progress: Callable[[int, int], None] | None = None, **params: Any
) -> ZipBags:
    """Turn every picture in a zip file of class folders (`TUM/a.png`) into a bag; broken ones are reported.

    The innermost folder of a picture is its class, and each bag's only candidate is its label. Equal pictures
    share a group. `progress` is called with the number of pictures done and of all.
    """
    with _opened(content) as archive:
        pictures = _pictures(archive)
        space = space_of(sorted({name.parent.name for _, name in pictures}), _CALLED, "an uploaded zip file")
        bags: list[Bag] = []
        kept: list[PurePosixPath] = []
        refused: list[tuple[str, InputError]] = []
        qualities: list[dict[str, float]] = []
        _refuse_what_would_take_too_long(archive, [entry for entry, _ in pictures])
        for done, (entry, name) in enumerate(pictures, start=1):
            try:
                image = read_upload(_unpacked(archive, entry, MAX_BYTES))
                bags.append(generate(generator, image, **params))
                qualities.append(measure_for(generator, image).numbers())
                kept.append(name)
            except InputError as error:
                refused.append((str(name), error))
            if progress is not None:
                progress(done, len(pictures))
    if not bags:
        first, reason = refused[0]
        raise InputError(f"None of the {len(pictures)} pictures can be used; “{first}”: {reason.what}", reason.fix)
    dataset = BagDataset.from_bags(
        [bag.features for bag in bags],
        space,
        labels=[space.index(name.parent.name) for name in kept],
        generator=generator,
        params=dict(bags[0].params),
        groups=np.unique([bag.image_sha256 for bag in bags], return_inverse=True)[1],
        names=tuple(str(name) for name in kept),
        source="an uploaded zip file of class folders",
    )
    return ZipBags(dataset, tuple(refused), tuple(qualities))


def _opened(content: bytes) -> zipfile.ZipFile:
    if content.count(_DIRECTORY_ENTRY) > MOST_ZIP_ENTRIES:
        raise InputError(f"The zip file lists more than {MOST_ZIP_ENTRIES:,} files.", "Zip only the class folders.")
    try:
        return zipfile.ZipFile(io.BytesIO(content))
    except _BROKEN:
        raise InputError("This is not a whole zip file.", "Zip the class folders again.") from None


def _pictures(archive: zipfile.ZipFile) -> list[tuple[zipfile.ZipInfo, PurePosixPath]]:
    """The pictures in class folders, ordered by name; hidden files and what a Mac leaves behind are passed over."""
    found = []
    for entry in archive.infolist():
        name = PurePosixPath(entry.filename)
        hidden = any(part.startswith((".", "__MACOSX")) for part in name.parts)
        if not entry.filename.endswith("/") and not hidden and name.suffix.lower() in extensions() and name.parent.name:
            found.append((entry, name))
    if not found:
        raise InputError(
            "There are no pictures in class folders in this zip file.",
            f"Zip one folder for each class with pictures ({', '.join(extensions())}) in it.",
        )
    classes = {name.parent.name for _, name in found}
    if len(found) > MOST_ZIP_PICTURES or len(classes) > MOST_ZIP_CLASSES:
        raise InputError(
            f"The zip file holds {len(found)} pictures of {len(classes)} classes.",
            f"Send at most {MOST_ZIP_PICTURES} of {MOST_ZIP_CLASSES} classes; for more use “python -m elimipl bags”.",
        )
    if any(len(label) > LONGEST_NAME or not label.isprintable() for label in classes):
        raise InputError("A class folder has a name that can't be shown.", f"Use at most {LONGEST_NAME} plain letters.")
    return sorted(found, key=lambda pair: str(pair[1]))


def _refuse_what_would_take_too_long(archive: zipfile.ZipFile, entries: list[zipfile.ZipInfo]) -> None:
    """Count bytes and stated pixels of all pictures before the first is decoded: all of them are taken or none."""
    bytes_left, pixels_left = MOST_ZIP_BYTES, MOST_ZIP_PIXELS
    for entry in entries:
        content = _unpacked(archive, entry, min(MAX_BYTES, bytes_left))
        bytes_left -= len(content)
        width, height = size_of_upload(content) or (0, 0)
        pixels_left -= width * height if width * height <= MAX_PIXELS else 0  # larger ones are not decoded at all
        if pixels_left < 0:
            raise InputError(
                f"The pictures in the zip file have more than {MOST_ZIP_PIXELS // 10**6} million pixels together.",
                "Send fewer or smaller pictures; for more use “python -m elimipl bags”.",
            )


def _unpacked(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, most: int) -> bytes:
    if entry.compress_type not in _PACKINGS:
        raise InputError("The zip file is packed in an unusual way.", "Zip the class folders again, the usual way.")
    try:
        with archive.open(entry) as file:
            content = file.read(most + 1)
    except RuntimeError:
        raise InputError("The zip file is locked with a password.", "Zip the class folders without one.") from None
    except _BROKEN:
        raise InputError("The zip file is damaged.", "Zip the class folders again.") from None
    if len(content) > most:
        raise InputError(
            f"The zip file unpacks to more than {MOST_ZIP_BYTES // 2**20} MB, or one of its pictures to more than "
            f"{MAX_BYTES // 2**20} MB.",
            "Send fewer or smaller pictures.",
        )
    return content
