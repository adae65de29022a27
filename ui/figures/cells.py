"""Bags of very many instances are grids of cells, which can be drawn and counted all at once."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from bag_generators.regions import Regions


class Cells(NamedTuple):
    """A grid that the instances fill, each one cell."""

    x_edges: np.ndarray  # (columns + 1,) px
    y_edges: np.ndarray  # (rows + 1,)
    numbers: np.ndarray  # (rows, columns) the instance of each cell

    def at(self, x: float, y: float) -> int:
        """The instance at a point of the grid."""
        row, column = (
            int(np.searchsorted(edges, at, "right")) - 1 for edges, at in ((self.y_edges, y), (self.x_edges, x))
        )
        return int(self.numbers[row, column])

    def totals(self, mask: np.ndarray) -> np.ndarray:
        """How many pixels of a mask (H, W) lie in each instance, (n,)."""
        rows = np.add.reduceat(mask.astype(np.int64), self.y_edges[:-1], axis=0)
        counts = np.empty(self.numbers.size, dtype=np.int64)
        counts[self.numbers] = np.add.reduceat(rows, self.x_edges[:-1], axis=1)
        return counts


@lru_cache(maxsize=16)
def cells_of(regions: Regions) -> Cells | None:
    """The grid whose cells the instances are; None where they overlap, leave gaps or have other shapes."""
    x_edges, y_edges, numbers = regions.grid(np.arange(len(regions)))
    if numbers.size != len(regions) or not np.array_equal(np.sort(numbers, axis=None), np.arange(len(regions))):
        return None
    if (x_edges[0], y_edges[0], x_edges[-1], y_edges[-1]) != (0, 0, regions.shape[1], regions.shape[0]):
        return None
    return Cells(x_edges, y_edges, numbers.astype(np.int64))
