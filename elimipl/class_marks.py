"""Where the code of a class is written on a map, so that no class is known by its colour alone."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import ndimage

LEAST = 4
"""Cells of a region that has room for a code."""
MOST = 200
"""Codes on one map; the largest regions get them."""


class Mark(NamedTuple):
    """The cell that lies deepest inside a connected region of one class."""

    row: int
    column: int
    label: int  # number of the class
    cells: int  # of the region


def class_marks(classes: np.ndarray) -> list[Mark]:
    """One mark for each region of a map (rows, columns) of class numbers, −1 where there is none; largest first.

    Regions too small for letters are passed over, but for the largest of a class: every class on the map is marked.

    >>> class_marks(np.array([[0, 0, 0, 1], [0, 0, 0, -1], [0, 0, 0, -1]]))
    [Mark(row=1, column=1, label=0, cells=9), Mark(row=0, column=3, label=1, cells=1)]
    """
    marks = []
    for index in np.unique(classes[classes >= 0]).tolist():
        regions, count = ndimage.label(classes == index)
        numbers = np.arange(1, count + 1)
        sizes = ndimage.sum_labels(np.ones_like(regions), regions, numbers).astype(int)
        numbers = numbers[(sizes >= LEAST) | (sizes == sizes.max())]
        depth = ndimage.distance_transform_cdt(np.pad(regions > 0, 1))[1:-1, 1:-1]
        places = ndimage.maximum_position(depth, regions, numbers)
        marks += [Mark(int(y), int(x), index, int(sizes[n - 1])) for (y, x), n in zip(places, numbers, strict=True)]
    return sorted(marks, key=lambda mark: -mark.cells)[:MOST]
