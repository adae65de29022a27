"""Where the bags of a cell come from: rebuilt from raw data, made of tiles, or read from the authors' files."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from bag_generators.assets import WORK
from bag_generators.errors import InputError
from elimipl.benchmark.authors import find_mat, prepare_authors
from elimipl.benchmark.cells import DATA, Cell
from elimipl.benchmark.crc_bags import find_crc, prepare_crc
from elimipl.benchmark.prepared import Prepared
from elimipl.benchmark.rebuilt import SOURCES, find_raw, prepare_rebuilt
from elimipl.benchmark.tile_bags import Progress, find_tile_folder, prepare_tiles

USUAL_FOLDERS = (WORK / "data", WORK.parent / "shared" / "data", Path("/usr/share/datasets"))
"""Looked through for raw data after the folder a person gives."""


@dataclass(frozen=True)
class DataFolders:
    """Where things lie on this machine."""

    data: tuple[Path, ...] = USUAL_FOLDERS
    mat: Path | None = None
    kept: Path = field(default=WORK / "runs" / "benchmark_bags")

    def of(self, cell: Cell) -> Path:
        """The raw data of a cell, or an `InputError` that says how to get it."""
        if cell.data in SOURCES:
            return find_raw(cell.data, self.data)
        if cell.data.startswith("crc-"):
            return find_crc(self.data)
        if not cell.data.startswith("authors-"):
            return find_tile_folder(cell.data.partition("-")[0], self.data)
        if self.mat is None:
            raise InputError(f"{DATA[cell.data].title}: no folder is given.", "Give the folder of the files as --mat.")
        return find_mat(cell, self.mat)


def available(cells: Iterable[Cell], folders: DataFolders) -> tuple[list[Cell], list[str]]:
    """The cells whose raw data is there; and a sentence for each data set that is missing."""
    found: list[Cell] = []
    missing: dict[str, None] = {}
    for cell in cells:
        try:
            folders.of(cell)
            found.append(cell)
        except InputError as error:
            missing[str(error)] = None
    return found, list(missing)


class Shelf:
    """Hands out the bags of cells and keeps the last ones: a run takes cells with the same bags one after the other."""

    def __init__(self, folders: DataFolders, progress: Progress | None = None) -> None:
        """`progress` hears of tiles that have to be made into bags first."""
        self._folders, self._progress = folders, progress
        self._last: tuple[Cell, Prepared] | None = None

    def bags_of(self, cell: Cell) -> Prepared:
        """The bags of a cell, the same for all methods."""
        bags = replace(cell, method="")
        if self._last is None or self._last[0] != bags:
            self._last = bags, self._prepare(bags)
        return self._last[1]

    def _prepare(self, bags: Cell) -> Prepared:
        folders = self._folders
        if bags.data in SOURCES:
            return prepare_rebuilt(bags, folders.data)
        if bags.data.startswith("authors-") and folders.mat is not None:
            return prepare_authors(bags, folders.mat)
        if bags.data.startswith("crc-"):
            return prepare_crc(bags.data, folders.data, folders.kept, self._progress)
        return prepare_tiles(bags.data, folders.data, folders.kept, self._progress)
