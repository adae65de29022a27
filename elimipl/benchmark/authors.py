"""The authors' own bags, for whoever has their .mat files: found by name, split as their index files say.

A file is known by the words in its name: the data set's (`MNIST`, `SIVAL`, or `CRC` and the generator) and the r, as in
`MNIST_MIPL_r1.mat`, `SIVAL-MIPL-r3.mat`, `CRC-MIPL-KMeansSeg.mat`. The splits are `index1.mat` to `index10.mat` in a
folder `index` beside it, or beside it themselves.
"""

from __future__ import annotations

import re
from pathlib import Path

from bag_generators.errors import InputError
from elimipl.benchmark.cells import CROWD, Cell
from elimipl.benchmark.prepared import Prepared
from elimipl.data.matlab import load_bags, load_splits


def find_mat(cell: Cell, folder: Path) -> Path:
    """The file of a cell's bags, anywhere below `folder`."""
    words = cell.data.removeprefix("authors-").split("-")
    for path in sorted(folder.rglob("*.mat")):
        if _fits(path.stem.lower(), words, cell.r):
            return path
    wanted = "-".join(word.upper() for word in words) + ("" if cell.r == CROWD else f"_r{cell.r}")
    raise InputError(f"There are no bags for {cell.data} in “{folder}”.", f"Name the file like {wanted}.mat.")


def _fits(stem: str, words: list[str], r: int) -> bool:
    named = re.split(r"[^a-z0-9]+", stem)
    known = all(word in named or (word == "kmeansseg" and "kmeans" in named) for word in words)
    return known and (r == CROWD or f"r{r}" in named or named[-1] == str(r))


def prepare_authors(cell: Cell, folder: Path) -> Prepared:
    """Their bags, candidate sets and splits."""
    path = find_mat(cell, folder)
    dataset = load_bags(path)
    return Prepared(dataset, load_splits(path.parent, len(dataset)))
