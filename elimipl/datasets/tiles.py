"""Bags from a folder of class folders, such as `tiles/TUM/a.png`, or a zip file of them: one picture, one bag.

A zip file that somebody sent is read in memory and nothing is unpacked to disk, so no name in it ever becomes a path.
What a file unpacks to is counted while it is read: the sizes a zip file states about itself prove nothing.
"""

from __future__ import annotations

import io
import os
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from bag_generators import Bag, InputError, generate, generate_many
from bag_generators.base.formats import (
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
from elimipl.candidates.labels import COLON, LESION5, TISSUE7, LabelSpace
from elimipl.datasets.dataset import BagDataset


@dataclass(frozen=True)
class TileBags:
    """The data set, and the pictures that could not be used with the reason for each."""

    dataset: BagDataset
    refused: tuple[tuple[Path, InputError], ...]


def find_tiles(folder: str | Path, label_space: LabelSpace | None = None) -> tuple[list[Path], list[int], LabelSpace]:
    """The pictures in the class folders of `folder`, the label of each, and the label space; see `list_tiles`."""
    names, labels, space = list_tiles(folder, label_space)
    return [Path(folder, name) for name in names], labels, space


def list_tiles(folder: str | Path, label_space: LabelSpace | None = None) -> tuple[list[str], list[int], LabelSpace]:
    """The names of the pictures below `folder`, such as TUM/a.png, the label of each, and the label space.

    Names, because a path takes more than twice the memory, and there may be a million. Without `label_space` it is the
    shipped one whose class names hold all folder names, or else one made of the folder names. Hidden files and folders
    are passed over.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError(f"There is no folder “{folder}”.", "Give a folder that holds a folder for each class.")
    classes = sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))
    space = label_space or space_of([path.name for path in classes], str(folder), folder.name)
    names: list[str] = []
    labels: list[int] = []
    known = frozenset(extensions())
    for class_folder in classes:
        label = space.index(class_folder.name)
        pictures = sorted(_pictures_below(class_folder, f"{class_folder.name}/", known), key=lambda one: one.split("/"))
        names += pictures
        labels += [label] * len(pictures)
    if not names:
        raise InputError(
            f"There are no pictures in the class folders of “{folder}”.",
            f"Put pictures ({', '.join(extensions())}) into a folder for each class.",
        )
    return names, labels, space


def bags_from_tiles(
    folder: str | Path,
    generator: str,
    *,
    label_space: LabelSpace | None = None,
    workers: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    source: str = "",
    licence: str = "",
    **params: Any,
) -> TileBags:
    """Turn every picture into a bag with `generator` and `params`; broken pictures are reported, not fatal.

    Each bag's only candidate is its label: `elimipl.candidates.crowd` gives it company. Copies of one picture (equal
    files) share a group. `progress` is called with the number of pictures done and of all.
    """
    paths, labels, space = find_tiles(folder, label_space)
    features, kept, groups, refused = [], [], [], []
    used: Mapping[str, Any] = {}
    for i, (_, result) in enumerate(generate_many(generator, paths, workers, progress, **params)):
        if isinstance(result, InputError):
            refused.append((paths[i], result))
            continue
        # Only the numbers are kept: the regions of a hundred thousand tiles would not fit into memory.
        features.append(result.features)
        kept.append(i)
        groups.append(result.image_sha256)
        used = result.params
    if not features:
        path, error = refused[0]
        raise InputError(f"None of the {len(paths)} pictures can be used; “{path.name}”: {error.what}", error.fix)
    dataset = BagDataset.from_bags(
        features,
        space,
        labels=[labels[i] for i in kept],
        generator=generator,
        params=dict(used),
        groups=np.unique(groups, return_inverse=True)[1],
        names=tuple(paths[i].relative_to(folder).as_posix() for i in kept),
        source=source or Path(folder).name,
        licence=licence,
    )
    return TileBags(dataset, tuple(refused))


def _pictures_below(folder: str | Path, prefix: str, known: frozenset[str]) -> Iterator[str]:
    """The names of the pictures in a folder and the folders below, each with the prefix; not through links."""
    with suppress(PermissionError), os.scandir(folder) as entries:
        for entry in entries:
            name = entry.name
            if entry.is_dir(follow_symlinks=False):
                yield from _pictures_below(entry.path, f"{prefix}{name}/", known)
            elif name[name.rfind(".") :].lower() in known and not name.startswith(".") and entry.is_file():
                yield prefix + name


def space_of(names: Sequence[str], where: str, source: str) -> LabelSpace:
    """The shipped label space whose class names hold all folder names, or else one made of the folder names."""
    for shipped in (TISSUE7, LESION5, COLON):
        if names and set(names) <= set(shipped.names):
            return shipped
    if len(names) < 2:
        raise InputError(
            f"“{where}” holds {len(names)} class folder(s).", "Put the pictures of each class into its own folder."
        )
    return LabelSpace.of(names, id="folders", source=source)


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
