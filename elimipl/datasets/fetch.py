"""Real tissue tiles for people with internet: NCT-CRC-HE-100K and CRC-VAL-HE-7K, from Zenodo record 1214456.

A few tiles of each class come by range requests into the remote zip file, a few megabytes of 11 gigabytes;
a whole set comes as the zip file, can be continued, and is checked against the checksum Zenodo publishes.
"""

from __future__ import annotations

import json
import re
import struct
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, BinaryIO, cast

import numpy as np
from urllib3.exceptions import HTTPError

from bag_generators.base.errors import InputError
from bag_generators.base.storage import write_whole
from elimipl.candidates.labels import TISSUE7
from elimipl.datasets.download import Progress, RemoteFile, ask, download

ZENODO = "https://zenodo.org"
RECORD = 1214456
LICENCE = "CC BY 4.0"
DATASETS = ("CRC-VAL-HE-7K", "NCT-CRC-HE-100K")

_LARGEST_RECORD = 1 << 22  # bytes; the description has some thousand
_LARGEST_TILE = 1 << 24  # bytes; a tile has 150 thousand
_HEADER = 1024  # bytes before a member's content, at most
_CLOSE = 1 << 16  # bytes between two tiles that cost less than another request
_MOST_AT_ONCE = 1 << 23  # bytes
_CLASS_NAME = re.compile(r"[A-Za-z0-9_]{1,32}")
_TILE_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,120}\.(tif|tiff|png|jpg|jpeg)", re.IGNORECASE)


@dataclass(frozen=True)
class RemoteArchive:
    """What Zenodo says about one zip file."""

    url: str
    size: int
    md5: str


def describe(dataset: str, base_url: str = ZENODO) -> RemoteArchive:
    """Address, size and checksum of a data set, as the record on the server gives them now."""
    if dataset not in DATASETS:
        raise InputError(f"There is no data set “{dataset}”.", f"Choose one of: {', '.join(DATASETS)}.")
    url = f"{base_url.rstrip('/')}/api/records/{RECORD}"
    try:
        with ask(url) as response:
            record = dict(json.loads(response.raw.read(_LARGEST_RECORD)))
    except InputError:  # it is a ValueError too
        raise
    except (HTTPError, ValueError, TypeError, RecursionError):
        raise InputError(f"{url} is not the description of a data set.", "Check the address.") from None
    try:
        entry = next(file for file in record["files"] if file["key"] == f"{dataset}.zip")
        kind, _, digest = entry["checksum"].partition(":")
        found = RemoteArchive(str(entry["links"]["self"]), int(entry["size"]), digest.lower())
    except (StopIteration, KeyError, TypeError, ValueError, AttributeError):
        raise InputError(f"The record on the server doesn't describe {dataset}.zip.", "Update the program.") from None
    if kind != "md5" or found.size <= 0:
        raise InputError(f"The server gives no MD5 checksum for {dataset}.zip.", "Update the program.")
    return found


def fetch_tiles(
    dataset: str,
    per_class: int,
    target_folder: str | Path,
    *,
    classes: Sequence[str] = TISSUE7.names,
    seed: int = 0,
    base_url: str = ZENODO,
    progress: Progress | None = None,
) -> list[Path]:
    """Put `per_class` tiles of each class into `target_folder`/<class>/ and return their paths.

    The tiles of a class are neighbours in the archive (its file names are random, so this is as good as drawing
    them one by one) from a place that `seed` decides: that way one request brings many. Tiles that are already
    there are not fetched again.
    """
    if per_class < 1:
        raise InputError(f"{per_class} tiles of each class are too few.", "Ask for at least one.")
    report = progress or (lambda what, done, total: None)
    described = describe(dataset, base_url)
    file = RemoteFile(described.url, described.size, lambda received: report("reading the list of tiles", received, 0))
    with _open_zip(file) as archive:
        file.on_bytes = None
        chosen = _choose(tiles_by_class(archive.infolist()), classes, per_class, np.random.default_rng(seed))
        paths = []
        for tile in chosen:
            file.ahead = _stretch(tile.member, [other.member for other in chosen])
            paths.append(_unpack(archive, tile, Path(target_folder)))
            report("fetching tiles", len(paths), len(chosen))
    return paths


def _stretch(first: zipfile.ZipInfo, chosen: list[zipfile.ZipInfo]) -> int:
    """Bytes from one member to the end of the chosen ones that lie close behind it: those come in one request."""
    end = first.header_offset
    for member in sorted(chosen, key=lambda one: one.header_offset):
        if first.header_offset <= member.header_offset <= end + _CLOSE:
            end = member.header_offset + min(member.compress_size, _LARGEST_TILE) + _HEADER
    return min(end - first.header_offset, _MOST_AT_ONCE)


def fetch_whole(
    dataset: str, target_folder: str | Path, *, base_url: str = ZENODO, progress: Progress | None = None
) -> Path:
    """Fetch the whole zip file into `target_folder`, going on where an earlier try ended; `unpack` opens it."""
    archive = describe(dataset, base_url)
    path = Path(target_folder) / f"{dataset}.zip"
    return download(archive.url, path, archive.size, archive.md5, progress)


def unpack(
    zip_path: str | Path,
    target_folder: str | Path,
    progress: Progress | None = None,
    classes: Sequence[str] | None = None,
) -> list[Path]:
    """Unpack the tiles of some classes (default: all) of an archive into `target_folder`/<class>/; their paths.

    Tiles that are there already are passed over, so that it can be stopped and started again.
    """
    try:
        with Path(zip_path).open("rb") as file, _open_zip(file) as archive:
            found = tiles_by_class(archive.infolist())
            tiles = [tile for name in (found if classes is None else classes) for tile in found.get(name, ())]
            paths = []
            for done, tile in enumerate(tiles, start=1):
                paths.append(_unpack(archive, tile, Path(target_folder)))
                if progress is not None:
                    progress("unpacking", done, len(tiles))
    except OSError as error:
        raise InputError(f"“{zip_path}” could not be read ({error.strerror}).", "Check the file.") from None
    return paths


@dataclass(frozen=True)
class Tile:
    """A picture in an archive, with the two names under which it will be written."""

    class_name: str
    file_name: str
    member: zipfile.ZipInfo


def tiles_by_class(members: Iterable[zipfile.ZipInfo]) -> dict[str, list[Tile]]:
    """The tiles of each class folder in the order of the archive.

    A member called `…/TUM/TUM-AAB.tif` is a tile of the class TUM. Only these last two parts are used, and only
    where they are plain names: what an archive says can't lead a file out of the target folder.
    """
    found: dict[str, dict[str, Tile]] = defaultdict(dict)
    for member in sorted(members, key=lambda member: member.header_offset):
        parts = PurePosixPath(member.filename).parts
        if len(parts) < 2 or not _CLASS_NAME.fullmatch(parts[-2]) or not _TILE_NAME.fullmatch(parts[-1]):
            continue
        found[parts[-2]].setdefault(parts[-1], Tile(parts[-2], parts[-1], member))
    return {name: list(tiles.values()) for name, tiles in found.items()}


def _choose(
    found: Mapping[str, list[Tile]], classes: Sequence[str], per_class: int, rng: np.random.Generator
) -> list[Tile]:
    """A run of neighbours of each class, from a random place; all of a class that has no more."""
    if missing := [name for name in classes if name not in found]:
        raise InputError(
            f"The archive has no class {', '.join(missing)}.", f"Choose from: {', '.join(sorted(found)) or 'none'}."
        )
    firsts = [int(rng.integers(max(len(found[name]) - per_class, 0) + 1)) for name in classes]
    return [
        tile for name, first in zip(classes, firsts, strict=True) for tile in found[name][first : first + per_class]
    ]


def _open_zip(file: RemoteFile | BinaryIO) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(cast(IO[bytes], file))
    except InputError:  # of the connection; it is a ValueError too
        raise
    except (zipfile.BadZipFile, OSError, NotImplementedError, ValueError, struct.error):
        raise InputError("The file is not a whole zip archive.", "Fetch it again.") from None


def _unpack(archive: zipfile.ZipFile, tile: Tile, folder: Path) -> Path:
    """Where the tile lies now, checked against its checksum."""
    path, member = folder / tile.class_name / tile.file_name, tile.member
    if path.is_file() and path.stat().st_size == member.file_size:
        return path
    if member.file_size > _LARGEST_TILE or member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise InputError(
            f"“{member.filename}” is too large or packed in an unusual way.", "That is no tile: check the archive."
        )
    try:
        with archive.open(member) as file:
            content = file.read(member.file_size)  # not one byte more, whatever it unpacks to
    except InputError:  # of the connection
        raise
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError, struct.error):
        raise InputError(f"“{member.filename}” in the archive is damaged.", "Fetch it again.") from None
    write_whole(path, content, "The tile")
    return path
