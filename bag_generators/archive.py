"""The bags of many pictures on their way into one file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from bag_generators.base import bag_file
from bag_generators.base.errors import InputError
from bag_generators.generator import Bag


class BagArchive:
    """Collects bags of one generator and the files that gave none, and writes them all at once."""

    def __init__(self, path: Path) -> None:
        bag_file.check_out(path)  # before the work begins, not after
        self._path = path
        self._made: list[tuple[str, str, np.ndarray, np.ndarray]] = []
        self._failed: list[tuple[str, str]] = []
        self._about: dict[str, Any] = {}

    def add(self, file: str | os.PathLike[str], result: Bag | InputError) -> None:
        """Take in what became of a file. Regions are kept as boxes alone, so that thousands of bags fit."""
        if isinstance(result, InputError):
            self._failed.append((os.fspath(file), str(result)))
            return
        boxes = np.array([result.regions.box(i) for i in range(len(result))], dtype=np.int64)
        self._made.append((os.fspath(file), result.image_sha256, result.features, boxes))
        self._about = {name: getattr(result, name) for name in ("generator", "params", "feature_names")}

    def save(self) -> None:
        """Write the file."""
        names, digests, features, boxes = zip(*self._made, strict=True) if self._made else ((), (), (), ())
        failed, reasons = zip(*self._failed, strict=True) if self._failed else ((), ())
        content = bag_file.BagFile(
            instances=np.concatenate(features or [np.zeros((0, 0), np.float32)]),
            offsets=np.cumsum([0, *map(len, features)], dtype=np.int64),
            boxes=np.concatenate(boxes or [np.zeros((0, 4), np.int64)]),
            names=names,
            image_sha256=digests,
            failed=failed,
            reasons=reasons,
            **self._about,
        )
        bag_file.write(self._path, content)
