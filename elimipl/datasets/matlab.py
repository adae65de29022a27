"""The authors' MATLAB files: bags in a cell array `data`, ten splits in `index/index1.mat` to `index10.mat`.

Row i of `data` is one bag: its instances (n × d), its candidate labels and its true label, both counted from 1. A true
label may lie outside the candidate set: that the crowd of CRC-MIPL always found it is not stated, and such a bag is
learned from and tested like any other (`BagDataset.truth_outside` counts and names them). Some files have a fourth
column, which nothing needs and which is not read.
"""

from __future__ import annotations

import io
from pathlib import Path
from threading import Lock

import numpy as np
from scipy.io import loadmat

from bag_generators.base.errors import InputError
from bag_generators.base.formats import LEAST_MAT_BYTES, MOST_MAT_BYTES, MOST_MAT_GROWTH
from bag_generators.base.pool import ProcessDiedError, Standby, limited
from elimipl.candidates.labels import LabelSpace
from elimipl.datasets.dataset import BagDataset

Split = tuple[np.ndarray, np.ndarray]
"""Bag numbers to train on and to test on, counted from 0."""
MOST_CLASSES = 10_000
_MOST_SECONDS = 600.0


def load_bags(path: str | Path) -> BagDataset:
    """The bags of one `.mat` file. The classes are called 1, 2, …, up to the largest seen."""
    path = Path(path)
    cells = _variable(path, "data")
    if cells.dtype != object or cells.ndim != 2 or cells.shape[1] not in (3, 4) or len(cells) == 0:
        raise InputError(
            f"“data” in “{path}” is not a cell array of 3 or 4 columns.",
            "Each row has to hold the instances, the candidate labels and the true label of one bag.",
        )
    bags = [_numbers(path, i, "instances", row[0]) for i, row in enumerate(cells)]
    sets = [_class_numbers(path, i, "candidate labels", row[1]) for i, row in enumerate(cells)]
    truths = [_class_numbers(path, i, "true label", row[2]) for i, row in enumerate(cells)]
    for i, truth in enumerate(truths):
        if len(truth) != 1:
            raise InputError(f"Bag {i + 1} in “{path}” has {len(truth)} true labels.", "Check the third column.")
    labels = np.concatenate(truths)
    largest = max(int(classes.max()) for classes in (*sets, labels)) + 1
    space = LabelSpace.of([str(number) for number in range(1, largest + 1)], id="matlab", source=path.name)
    matrix = np.zeros((len(bags), len(space)), dtype=bool)
    for row, candidates in zip(matrix, sets, strict=True):
        row[candidates] = True
    names = tuple(f"row {i + 1}" for i in range(len(bags)))
    return BagDataset.from_bags(bags, space, labels, matrix, names=names, generator="matlab", source=path.name)


def load_splits(folder: str | Path, bags: int) -> list[Split]:
    """The splits of a data set of `bags` bags: `index1.mat`, `index2.mat`, … as far as they go.

    `folder` holds them itself or in a folder `index`. Bag numbers are turned to count from 0.
    """
    folder = Path(folder)
    index_folder = folder / "index" if (folder / "index").is_dir() else folder
    splits: list[Split] = []
    while (path := index_folder / f"index{len(splits) + 1}.mat").is_file():
        train, test = (_bag_numbers(path, name, bags) for name in ("trainIndex", "testIndex"))
        if np.intersect1d(train, test).size:
            raise InputError(f"“{path}” trains and tests on the same bag.", "Check the split file.")
        splits.append((train, test))
    if not splits:
        raise InputError(f"There is no “index1.mat” in “{index_folder}”.", "Give the folder of the split files.")
    return splits


def _variable(path: Path, name: str) -> np.ndarray:
    """One variable of a MATLAB file, read by another process: SciPy follows lengths in a damaged file anywhere."""
    try:
        with _asking:
            value: np.ndarray | None = _reader.ask((str(path), name))
    except ProcessDiedError:
        raise InputError(f"“{path}” is not a whole MATLAB file.", "Copy or download it again.") from None
    if value is None:
        raise InputError(f"“{path}” has no variable “{name}”.", "Choose another file.")
    return value


def read_variable(task: tuple[str, str]) -> np.ndarray | None:
    """The variable of that name in the file of that name, for the reading process; None where there is none."""
    path, name = task
    try:
        content = Path(path).read_bytes()
        if content[124:128] in (b"\x00\x02IM", b"\x02\x00MI"):
            raise InputError(
                f"“{path}” is a MATLAB file of version 7.3, which is not read here.",
                "Open it in MATLAB or Octave and save it again with the option -v7.",
            )
        with limited(_MOST_SECONDS, min(MOST_MAT_BYTES, LEAST_MAT_BYTES + MOST_MAT_GROWTH * len(content))):
            return loadmat(io.BytesIO(content), variable_names=[name]).get(name)
    except FileNotFoundError:
        raise InputError(f"There is no file “{path}”.", "Check the name.") from None
    except IsADirectoryError:
        raise InputError(f"“{path}” is a folder.", "Choose a .mat file in it.") from None
    except PermissionError:
        raise InputError(f"“{path}” may not be read.", "Check the rights of the file.") from None
    except InputError:
        raise
    except MemoryError:
        raise InputError(
            f"“{path}” unpacks to far more than its size.", "Save it again without compression (-v6)."
        ) from None
    except Exception:  # SciPy has no one error for a damaged file
        raise InputError(f"“{path}” is not a whole MATLAB file.", "Copy or download it again.") from None


_reader, _asking = Standby(read_variable), Lock()


def _numbers(path: Path, bag: int, what: str, cell: object) -> np.ndarray:
    values = np.asarray(cell)
    if values.ndim != 2 or values.size == 0 or values.dtype.kind not in "biuf":
        raise InputError(f"The {what} of bag {bag + 1} in “{path}” are not a table of numbers.", "Check the file.")
    return values


def _class_numbers(path: Path, bag: int, what: str, cell: object) -> np.ndarray:
    """Classes counted from 0."""
    values = _numbers(path, bag, what, cell).ravel()
    if (values != np.floor(values)).any() or values.min() < 1 or values.max() > MOST_CLASSES:
        raise InputError(
            f"The {what} of bag {bag + 1} in “{path}” are not class numbers.",
            f"Count classes 1, 2, 3 and so on, up to {MOST_CLASSES:,}.",
        )
    return values.astype(np.int64) - 1


def _bag_numbers(path: Path, name: str, bags: int) -> np.ndarray:
    """Bags counted from 0, each at most once."""
    values = _variable(path, name).ravel()
    if values.dtype.kind not in "iuf" or values.size == 0 or (values != np.floor(values)).any():
        raise InputError(f"“{name}” in “{path}” is not a list of bag numbers.", "Check the split file.")
    if values.min() < 1 or values.max() > bags or len(np.unique(values)) < len(values):
        raise InputError(
            f"“{name}” in “{path}” does not fit a data set of {bags} bags.",
            f"It has to name bags from 1 to {bags}, each at most once.",
        )
    return values.astype(np.int64) - 1
