"""The bags of many pictures on their way into one file."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from bag_generators import bag_file
from bag_generators.bag import Bag
from bag_generators.errors import InputError


class BagArchive:
    """Collects bags of one generator and the files that gave none, and writes them as a `BagFile`."""

    def __init__(self, path: Path) -> None:
        """Refuse a path that can't be written to before the work begins, not after."""
        bag_file.check_out(path)
        self._path = path
        self._features: list[np.ndarray] = []
        self._boxes: list[np.ndarray] = []
        self._names: list[str] = []
        self._digests: list[str] = []
        self._failed: list[tuple[str, str]] = []
        self._last: Bag | None = None

    def add(self, file: str | os.PathLike[str], result: Bag | InputError) -> None:
        """Take in what became of a file. Regions are kept as boxes alone, so that thousands of bags fit."""
        if isinstance(result, InputError):
            self._failed.append((os.fspath(file), str(result)))
            return
        self._names.append(os.fspath(file))
        self._digests.append(result.image_sha256)
        self._features.append(result.features)
        self._boxes.append(np.array([result.regions.box(i) for i in range(len(result))], dtype=np.int64))
        self._last = result

    def save(self) -> None:
        """Write everything at once: the file is the old one or the whole new one, never a part."""
        last = self._last
        content = bag_file.BagFile(
            instances=np.concatenate(self._features or [np.zeros((0, 0), np.float32)]),
            offsets=np.cumsum([0, *map(len, self._features)], dtype=np.int64),
            boxes=np.concatenate(self._boxes or [np.zeros((0, 4), np.int64)]),
            names=tuple(self._names),
            image_sha256=tuple(self._digests),
            failed=tuple(file for file, _ in self._failed),
            reasons=tuple(reason for _, reason in self._failed),
            generator="" if last is None else last.generator,
            params={} if last is None else last.params,
            feature_names=() if last is None else last.feature_names,
        )
        bag_file.write(self._path, content)
