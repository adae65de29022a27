"""Bags from a folder of class folders, such as `tiles/TUM/a.png`: one picture, one bag."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bag_generators import InputError, generate_many
from bag_generators.formats import extensions
from elimipl.dataset import BagDataset
from elimipl.labels import COLON, LESION5, TISSUE7, LabelSpace


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

    Each bag's only candidate is its label: `elimipl.data.crowd` gives it company. Copies of one picture (equal files)
    share a group. `progress` is called with the number of pictures done and of all.
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
