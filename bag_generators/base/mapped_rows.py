"""A table of numbers that lies in many files: mapped into memory, and read where it is asked for."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bag_generators.base.errors import InputError

TENSOR = "instances"
"""The name of the table in each file."""
_LONGEST_HEADER = 2**20  # bytes
_NUMBERS_A_LOOK = 2**24
_MAKE_AGAIN = "Build the data set again, or copy the whole folder."


class MappedRows:
    """(N, d) float32 rows in m blocks, one block a bag; block i is `sizes[i]` rows of a part from row `starts[i]` on.

    Indexed like an array by rows that follow each other, and read-only; what lies together comes as a view,
    everything else as a copy. `np.asarray` reads it all. A part is mapped when it is first asked for, and checked
    then: a number that is not finite is refused with the name of the file. Parts must not change while they are
    mapped (nothing in this program changes one). Sent to another process it goes as paths.
    """

    dtype = np.dtype(np.float32)
    ndim = 2

    def __init__(
        self, parts: Sequence[Path] | _Parts, part_of: ArrayLike, starts: ArrayLike, sizes: ArrayLike, dim: int
    ) -> None:
        self._parts = parts if isinstance(parts, _Parts) else _Parts(tuple(parts), dim)
        self.part_of = np.asarray(part_of, np.int32)  # (m,)
        self.starts = np.asarray(starts, np.int64)  # (m,)
        self._offsets = np.concatenate([[0], np.cumsum(np.asarray(sizes, np.int64))])
        self.shape = (int(self._offsets[-1]), dim)
        self.size = self.shape[0] * dim

    @property
    def parts(self) -> tuple[Path, ...]:
        """The files; several tables may share them."""
        return self._parts.paths

    @property
    def sizes(self) -> np.ndarray:
        """Rows in each block, (m,) int64."""
        return np.diff(self._offsets)

    def __len__(self) -> int:
        return self.shape[0]

    def __reduce__(self) -> tuple[Any, ...]:
        return MappedRows, (self.parts, self.part_of, self.starts, self.sizes, self.shape[1])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError("rows in several files can't be one array without a copy")
        return np.array(self[:], dtype=dtype)

    def __getitem__(self, key: Any) -> np.ndarray:
        rows, columns = key if isinstance(key, tuple) else (key, slice(None))
        if not isinstance(rows, slice) or rows.step not in (None, 1):
            raise IndexError("only rows that follow each other are read at once; np.asarray reads them all")
        first, last, _ = rows.indices(len(self))
        # Of some columns one part after the other, never all columns at once.
        return self._joined([run[:, columns] for run in self._runs_of_rows(first, max(first, last))], columns)

    def blocks(self, chosen: ArrayLike) -> np.ndarray:
        """The rows of the blocks with these numbers, one block after the other."""
        numbers = np.asarray(chosen, np.int64)
        return self._joined(list(self._runs(self.part_of[numbers], self.starts[numbers], self.sizes[numbers])))

    def subset(self, chosen: ArrayLike) -> MappedRows:
        """The blocks with these numbers; nothing is read."""
        numbers = np.asarray(chosen, np.int64)
        return MappedRows(self._parts, self.part_of[numbers], self.starts[numbers], self.sizes[numbers], self.shape[1])

    @staticmethod
    def joined(tables: Sequence[MappedRows]) -> MappedRows:
        """The blocks of several tables of the same width, one table after the other; nothing is read."""
        numbers: dict[Path, int] = {}
        part_of = []
        for table in tables:
            own = np.array([numbers.setdefault(path, len(numbers)) for path in table.parts], np.int32)
            part_of.append(own[table.part_of])
        return MappedRows(
            tuple(numbers),
            np.concatenate(part_of),
            np.concatenate([table.starts for table in tables]),
            np.concatenate([table.sizes for table in tables]),
            tables[0].shape[1],
        )

    def _joined(self, runs: list[np.ndarray], columns: Any = slice(None)) -> np.ndarray:
        if not runs:
            return np.empty((0, self.shape[1]), np.float32)[:, columns]
        return runs[0] if len(runs) == 1 else np.concatenate(runs)

    def _runs_of_rows(self, first: int, last: int) -> Iterator[np.ndarray]:
        if first == last:
            return
        low = int(np.searchsorted(self._offsets, first, side="right")) - 1
        high = int(np.searchsorted(self._offsets, last, side="left"))
        starts, sizes = self.starts[low:high].copy(), np.diff(self._offsets[low : high + 1])
        sizes[-1] -= self._offsets[high] - last
        starts[0] += first - self._offsets[low]
        sizes[0] -= first - self._offsets[low]
        yield from self._runs(self.part_of[low:high], starts, sizes)

    def _runs(self, part_of: np.ndarray, starts: np.ndarray, sizes: np.ndarray) -> Iterator[np.ndarray]:
        """Blocks as views; those that lie one behind the other in a part as one."""
        if not len(starts):
            return
        parted = (part_of[1:] != part_of[:-1]) | (starts[1:] != starts[:-1] + sizes[:-1])
        heads = np.concatenate([[0], np.flatnonzero(parted) + 1])
        tails = np.concatenate([heads[1:], [len(starts)]]) - 1
        ends = starts + sizes
        for part, start, end in zip(part_of[heads].tolist(), starts[heads].tolist(), ends[tails].tolist(), strict=True):
            yield self._parts.rows(part, start, end)


class _Parts:
    """The files of a table, each mapped once."""

    def __init__(self, paths: tuple[Path, ...], dim: int) -> None:
        self.paths = paths
        self._dim = dim
        self._mapped: dict[int, np.ndarray] = {}

    def rows(self, part: int, start: int, end: int) -> np.ndarray:
        """Some rows of a part as a view."""
        if (table := self._mapped.get(part)) is None:
            table = self._mapped[part] = self._checked(self.paths[part])
        if end > len(table):
            raise _damaged(self.paths[part])
        return table[start:end]

    def _checked(self, path: Path) -> np.ndarray:
        table = map_table(path)
        if table.shape[1] != self._dim:
            raise _damaged(path)
        rows = max(1, _NUMBERS_A_LOOK // self._dim)
        if not all(np.isfinite(table[first : first + rows]).all() for first in range(0, len(table), rows)):
            raise InputError(f"“{path.name}” holds a number that is not finite.", "Remove the NaN or infinite values.")
        return table


def map_table(path: Path) -> np.ndarray:
    """The table of a part, (n, d) float32, read-only: the pages that are touched are read from the file.

    safetensors itself can only copy a tensor into a NumPy array.
    """
    try:
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            entry = json.loads(file.read(min(length, _LONGEST_HEADER)))[TENSOR]
            (n, dim), (start, end) = entry["shape"], entry["data_offsets"]
            inside = 0 <= start < end <= path.stat().st_size - 8 - length
            if entry["dtype"] != "F32" or min(n, dim) < 1 or not inside or end - start != 4 * n * dim:
                raise _damaged(path)
            return np.memmap(file, np.float32, "r", offset=8 + length + start, shape=(n, dim)).view(np.ndarray)
    except FileNotFoundError:
        raise InputError(f"The part “{path.name}” of the data set is missing.", _MAKE_AGAIN) from None
    except OSError as error:
        raise InputError(f"“{path.name}” could not be read ({error.strerror}).", "Check the file.") from None
    except (KeyError, TypeError, ValueError, RecursionError):  # also the refusal above
        raise _damaged(path) from None


def _damaged(path: Path) -> InputError:
    return InputError(f"“{path.name}” is not a whole part of a bag data set.", _MAKE_AGAIN)
