"""A bag data set that is too large for memory: a folder of parts, which hold the instances, and an index of the rest.

A part is a safetensors file named after its content and never changed, so that many processes may write parts of one
data set at the same time, and a program that is killed leaves whole parts or none. The index is written last. It has
everything but the instances: names, labels and places.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from bag_generators.base.bag_file import BagFile, foreign, packed, tensors_as_texts, texts_as_tensors, unpacked
from bag_generators.base.errors import InputError
from bag_generators.base.mapped_rows import TENSOR, MappedRows
from bag_generators.base.storage import (
    ForeignFileError,
    check_writable,
    pack_tensors,
    read_tensors,
    write_tensors,
    write_whole,
)

SUFFIX = ".shards"
"""How the name of a new folder ends; a folder with an index may have any name."""
INDEX = "index.safetensors"
BAGS_A_PART = 1024
"""Where the bags are at hand; a part of pictures that have yet to become bags holds fewer."""
_PARTS = "parts"
_KEY = "elimipl.shards"
_PART_NAME = re.compile(r"[0-9a-f]{32}\.safetensors")


def check_out(folder: Path) -> None:
    """Refuse, before any work, a place where the folder could not be written."""
    if folder.suffix != SUFFIX:
        raise InputError(f"“{folder.name}” is no name for a folder of shards.", f"Name it “{folder.name}{SUFFIX}”.")
    if folder.exists() and not folder.is_dir():
        raise InputError(f"“{folder}” is a file.", f"Name a folder that ends in “{SUFFIX}”.")
    visible = {path.name for path in folder.iterdir() if not path.name.startswith(".")} if folder.is_dir() else set()
    if visible and not visible & {INDEX, _PARTS}:
        raise InputError(f"The folder “{folder}” holds something else.", "Name a new folder.")
    check_writable(folder / INDEX, "The data set")


def write(folder: Path, bags: BagFile) -> None:
    """Write `bags` as a folder; parts that are there already are not written again, others are removed at the end."""
    rows = bags.instances
    inside = folder / _PARTS
    if not (isinstance(rows, MappedRows) and all(path.parent == inside for path in rows.parts)):
        bags = replace(bags, instances=write_parts(folder, rows, np.diff(bags.offsets)))
    write_index(folder, bags)


def write_parts(folder: Path, instances: np.ndarray | MappedRows, sizes: np.ndarray) -> MappedRows:
    """The instances of bags of these sizes as parts of a folder that has no index yet; memory holds one part."""
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    paths: list[Path] = []
    part_of: list[int] = []
    starts = []
    for first in range(0, len(sizes), BAGS_A_PART):
        last = min(first + BAGS_A_PART, len(sizes))
        rows = np.asarray(instances[offsets[first] : offsets[last]], np.float32)
        part_of += [len(paths)] * (last - first)
        starts.append(offsets[first:last] - offsets[first])
        paths.append(write_part(folder, {TENSOR: rows}))
    return MappedRows(paths, part_of, np.concatenate(starts), sizes, instances.shape[1])


def write_part(folder: Path, tensors: Mapping[str, np.ndarray], described: Mapping[str, Any] | None = None) -> Path:
    """Write one part, all or nothing. Equal content has one name: a part that is made twice is there once."""
    content = pack_tensors(tensors, _KEY, described or {})
    path = folder / _PARTS / f"{hashlib.sha256(content).hexdigest()[:32]}.safetensors"
    if not (path.exists() and path.stat().st_size == len(content)):
        write_whole(path, content, "A part of the data set")
    return path


def part_paths(folder: Path) -> Iterator[Path]:
    """Every part of a folder, in the order of their names."""
    inside = folder / _PARTS
    found = sorted(inside.iterdir()) if inside.is_dir() else []
    return (path for path in found if _PART_NAME.fullmatch(path.name))


def read_beside(path: Path, names: Sequence[str]) -> tuple[dict[str, np.ndarray], Any] | None:
    """The small tensors of a part and its description; None where it is damaged or has others."""
    try:
        return read_tensors(path, _KEY, path.name, names)
    except (ForeignFileError, InputError):
        return None


def write_index(folder: Path, bags: BagFile) -> None:
    """Write the index of bags whose parts are there, all or nothing, then remove the parts that it doesn't name."""
    rows = bags.instances
    assert isinstance(rows, MappedRows)
    used, part_of = np.unique(rows.part_of, return_inverse=True)
    names = [rows.parts[number].name for number in used]
    tensors, described = packed(bags)
    tensors |= texts_as_tensors("parts", names)
    tensors |= {"part_of": part_of.astype(np.int32), "starts": rows.starts, "dim": np.array([rows.shape[1]])}
    write_tensors(folder / INDEX, tensors, _KEY, described, "The index of the data set")
    kept = set(names)
    for path in (folder / _PARTS).iterdir():  # also what a writer that was killed left
        if path.name not in kept:
            path.unlink(missing_ok=True)


def read(folder: Path, called: str = "") -> BagFile:
    """What `write` put into a folder, with the instances mapped; `called` names the folder in a refusal."""
    called = called or str(folder)
    if not (folder / INDEX).exists():
        unfinished = next(part_paths(folder), None) is not None
        raise InputError(
            f"The folder “{called}” is {'an unfinished' if unfinished else 'no'} bag data set.",
            "Run the command that makes it again: it goes on where it was." if unfinished else "Check the name.",
        )
    try:
        tensors, described = read_tensors(folder / INDEX, _KEY, called)
        tensors[TENSOR] = _mapped(folder, tensors, called)
    except (ForeignFileError, KeyError, ValueError) as error:
        raise error if isinstance(error, InputError) else foreign(called) from None
    return unpacked(tensors, described, called)


def _mapped(folder: Path, tensors: dict[str, np.ndarray], called: str) -> Any:
    """The instances that the index speaks of; what it says of their places is taken out of `tensors`."""
    names = tensors_as_texts(tensors.pop("parts.utf8"), tensors.pop("parts.ends"))
    part_of, starts, dim = (tensors.pop(name) for name in ("part_of", "starts", "dim"))
    offsets = tensors["offsets"]
    sizes = np.diff(offsets)
    fits = (
        all(_PART_NAME.fullmatch(name) for name in names)
        and part_of.dtype == np.int32
        and starts.dtype == offsets.dtype == dim.dtype == np.int64
        and dim.shape == (1,)
        and offsets.ndim == 1
        and part_of.shape == starts.shape == sizes.shape != (0,)
        and 0 <= part_of.min() <= part_of.max() < len(names)
        and offsets[0] == 0
        and min(starts.min(), sizes.min() - 1, dim[0] - 1) >= 0
    )
    if not fits:
        raise foreign(called)
    there = {path.name for path in part_paths(folder)}
    if missing := [name for name in names if name not in there]:
        raise InputError(
            f"{len(missing)} of {len(names)} parts of “{called}” are missing, such as “{missing[0]}”.",
            "Copy the whole folder, or run the command that made it again: it makes what is missing.",
        )
    return MappedRows([folder / _PARTS / name for name in names], part_of, starts, sizes, int(dim[0]))
