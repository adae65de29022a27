"""Lines of equal score on a map: they show where it is high and leave the tissue between them to be seen."""

import numpy as np


def isolines(x_edges: np.ndarray, y_edges: np.ndarray, values: np.ndarray, level: float) -> list[np.ndarray]:
    """Where a map of cells crosses `level`, each line (v, 2) x, y in the unit of the edges.

    `values` (rows, columns) lie between the edges, as `Regions.grid` gives them, and hold at the middle of their cell;
    between the middles they change evenly, beyond the outermost ones they stay. What no region covers counts as zero.
    Lines end where they meet the edge of the map, the others are closed.
    """
    from skimage.measure import find_contours  # opening a page needs no contours

    known = np.pad(np.nan_to_num(np.asarray(values, dtype=np.float64)), 1, mode="edge")
    x, y = _middles(x_edges), _middles(y_edges)
    return [
        np.column_stack([np.interp(line[:, 1], np.arange(len(x)), x), np.interp(line[:, 0], np.arange(len(y)), y)])
        for line in find_contours(known, level)
    ]


def _middles(edges: np.ndarray) -> np.ndarray:
    """The first edge, the middles of the cells, the last edge."""
    edges = np.asarray(edges, dtype=np.float64)
    return np.concatenate([edges[:1], (edges[:-1] + edges[1:]) / 2, edges[-1:]])
