"""Many bags in one NumPy file that opens without pickle."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np

from bag_generators.bag import Bag
from bag_generators.errors import InputError

_WRITE_ELSEWHERE = "Name a file in an existing folder that you may write to."


class BagArchive:
    """Collects bags of one generator and writes them as arrays, all instances one after the other.

    `features` (N, d) float32 holds bag i in rows `offsets[i]` to `offsets[i + 1]`; `boxes` (N, 4) are x0, y0, x1, y1
    in pixels; `names` and `image_sha256` (m,) tell the pictures, `failed` and `reasons` the files that gave no bag.
    `generator`, `params` (JSON) and `feature_names` (d,) tell how the bags were made.
    """

    def __init__(self, path: Path) -> None:
        """Refuse a place that can't be written to before the work begins, not after."""
        if path.is_dir() or not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
            raise InputError(f"“{path}” can't be written.", _WRITE_ELSEWHERE)
        self._path = path
        self._features: list[np.ndarray] = []
        self._boxes: list[np.ndarray] = []
        self._texts: dict[str, list[str]] = {"names": [], "image_sha256": [], "failed": [], "reasons": []}
        self._settings: dict[str, np.ndarray] = {}

    def add(self, file: str | os.PathLike[str], result: Bag | InputError) -> None:
        """Take in what became of a file. Regions are kept as boxes alone, so that thousands of bags fit."""
        if isinstance(result, InputError):
            self._texts["failed"].append(os.fspath(file))
            self._texts["reasons"].append(str(result))
            return
        self._texts["names"].append(os.fspath(file))
        self._texts["image_sha256"].append(result.image_sha256)
        self._features.append(result.features)
        self._boxes.append(np.array([result.regions.box(i) for i in range(len(result))], dtype=np.int64))
        self._settings = {
            "generator": np.array(result.generator),
            "params": np.array(json.dumps(dict(result.params))),
            "feature_names": np.array(result.feature_names, dtype=np.str_),
        }

    def save(self) -> None:
        """Write everything at once: the file is the old one or the whole new one, never a part."""
        arrays = {
            "features": np.concatenate(self._features or [np.zeros((0, 0), np.float32)]),
            "offsets": np.cumsum([0, *map(len, self._features)], dtype=np.int64),
            "boxes": np.concatenate(self._boxes or [np.zeros((0, 4), np.int64)]),
            **{name: np.array(texts, dtype=np.str_) for name, texts in self._texts.items()},
            **self._settings,
        }
        temporary = self._path.with_name(f".{self._path.name}.{os.getpid()}.tmp")
        try:
            with temporary.open("wb") as file:
                np.savez(file, allow_pickle=False, **arrays)
            temporary.replace(self._path)
        except OSError as error:
            raise InputError(f"“{self._path}” can't be written: {error.strerror}.", _WRITE_ELSEWHERE) from None
        finally:
            temporary.unlink(missing_ok=True)
