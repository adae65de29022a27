"""Which part of the picture each instance covers, and how to paint scores on it.

All coordinates are pixels of the picture the person gave us, x to the right and y down. Pixel (x, y) is the
square [x, x+1) × [y, y+1), so its centre is (x + .5, y + .5). Every kind of region answers the same
questions; `paint`, `at`, `mask` and `outline` agree pixel by pixel.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from bag_generators.image import TissueImage

Scores: TypeAlias = np.ndarray | Sequence[float]
Size: TypeAlias = tuple[int, int]
Box: TypeAlias = tuple[int, int, int, int]

_FADED = np.rint(255 - 0.25 * (255 - np.arange(256))).astype(np.uint8)
"""Each 8-bit value three quarters of the way to white."""


def edges(parts: int, length: int) -> np.ndarray:
    """Cut `length` pixels into equal `parts`: (parts + 1,) whole-pixel edges from 0 to `length`.

    Edges that fall in the middle of a pixel round towards the centre, so mirroring the picture mirrors the
    parts. Only the centre edge of an odd `length` can't be mirrored; it rounds up.

    >>> edges(8, 100)
    array([  0,  13,  25,  38,  50,  62,  75,  87, 100])
    """
    i = np.arange(parts + 1)
    half_up = (2 * i * length + parts) // (2 * parts)
    return np.where(2 * i <= parts, half_up, length - half_up[::-1])


class Regions(ABC):
    """The n regions of a bag in a picture of `shape` (height, width)."""

    shape: Size

    @abstractmethod
    def __len__(self) -> int: ...

    @property
    def blocks(self) -> np.ndarray:
        """(n,) int from 0: instances of one block are removed together; each is a block by itself unless told."""
        return np.arange(len(self))

    def paint(self, scores: Scores, shape: Size | None = None) -> np.ndarray:
        """Scores (n,) as a (H, W) float64 map: overlaps are averaged, what no region covers is NaN.

        With another `shape`, each pixel of the map takes the score of the picture's pixel under its centre.
        """
        x_edges, y_edges, values = self.grid(scores)
        values = np.pad(values, 1, constant_values=np.nan)  # beyond the outermost edges
        (y, x) = (
            np.searchsorted(cuts, (2 * np.arange(wanted) + 1) * actual // (2 * wanted), "right")
            for cuts, wanted, actual in zip((y_edges, x_edges), shape or self.shape, self.shape, strict=True)
        )
        return values[y][:, x]

    @abstractmethod
    def grid(self, scores: Scores) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The map that `paint` makes, in as few cells as it needs, for plotting.

        Returns the x edges (columns + 1,), the y edges (rows + 1,) and the values (rows, columns) between them.
        """

    @abstractmethod
    def at(self, x: float, y: float) -> int | None:
        """The instance under a point; where several overlap, the one whose centre is nearest to the pixel."""

    @abstractmethod
    def outline(self, i: int) -> list[np.ndarray]:
        """Closed polygons, each (v, 2) float x, y on pixel edges; filled even-odd they are exactly `mask(i)`."""

    @abstractmethod
    def mask(self, i: int) -> np.ndarray:
        """The pixels of instance i, (H, W) bool."""

    def under(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Which instances cover each of m pixels of the picture, (m, n) bool."""
        return np.stack([self.mask(i)[y, x] for i in range(len(self))], axis=1)

    @abstractmethod
    def centre(self, i: int) -> tuple[float, float]:
        """The centre of gravity (x, y) of instance i."""

    @abstractmethod
    def box(self, i: int) -> Box:
        """The bounding box x0, y0, x1, y1 of instance i; x1 and y1 are exclusive."""

    def crop(self, image: TissueImage, i: int) -> np.ndarray:
        """The part of the picture inside `box(i)`, (h, w, 3) uint8."""
        if (image.height, image.width) != self.shape:
            raise ValueError(f"the regions are of a {self.shape} picture, not of {(image.height, image.width)}")
        x0, y0, x1, y1 = self.box(i)
        return image.pixels[y0:y1, x0:x1].copy()

    def _checked(self, scores: Scores) -> np.ndarray:
        values = np.asarray(scores, dtype=np.float64)
        if values.shape != (len(self),):
            raise ValueError(f"{len(self)} regions need as many scores, not an array of shape {values.shape}")
        return values

    def _index(self, i: int) -> int:
        if not 0 <= i < len(self):
            raise IndexError(f"there is no instance {i}: the bag has {len(self)}")
        return int(i)


class BoxRegions(Regions):
    """Axis-parallel boxes, which may overlap: Row's bands, SBN's blobs, SIFT's and Deep's cells.

    `boxes` is (n, 4) int: x0, y0, x1, y1 with x1 and y1 exclusive. `blocks` (n,) says what is removed together.
    """

    def __init__(self, boxes: np.ndarray | Sequence[Box], shape: Size, blocks: np.ndarray | None = None) -> None:
        self.boxes = np.array(boxes, dtype=np.int64)
        self.boxes.flags.writeable = False
        self.shape = shape
        self._blocks = blocks

    @classmethod
    def even(cls, rows: int, columns: int, shape: Size, blocks: np.ndarray | None = None) -> BoxRegions:
        """Cells of an even grid that covers the picture, row by row."""
        y, x = edges(rows, shape[0]), edges(columns, shape[1])
        i, j = np.indices((rows, columns)).reshape(2, -1)
        return cls(np.stack([x[j], y[i], x[j + 1], y[i + 1]], axis=1), shape, blocks)

    def __reduce__(self) -> tuple[Any, ...]:
        return BoxRegions, (self.boxes, self.shape, self._blocks)

    @property
    def blocks(self) -> np.ndarray:
        return super().blocks if self._blocks is None else self._blocks

    def __len__(self) -> int:
        return len(self.boxes)

    def grid(self, scores: Scores) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        # Between two neighbouring box edges nothing changes.
        values = self._checked(scores)
        x_cuts, y_cuts = np.unique(self.boxes[:, 0::2]), np.unique(self.boxes[:, 1::2])
        left, right = np.searchsorted(x_cuts, self.boxes[:, 0::2]).T
        top, bottom = np.searchsorted(y_cuts, self.boxes[:, 1::2]).T
        # Every box once for each cell it covers, `step` counting them row by row.
        wide = right - left
        covered = wide * (bottom - top)
        box = np.repeat(np.arange(len(values)), covered)
        step = np.arange(len(box)) - np.repeat(np.cumsum(covered) - covered, covered)
        rows, columns = len(y_cuts) - 1, len(x_cuts) - 1
        cell = (top[box] + step // wide[box]) * columns + left[box] + step % wide[box]
        count = np.bincount(cell, minlength=rows * columns)
        total = np.bincount(cell, values[box], minlength=rows * columns)
        mean = np.divide(total, count, out=np.full(rows * columns, np.nan), where=count > 0)
        return x_cuts, y_cuts, mean.reshape(rows, columns)

    def at(self, x: float, y: float) -> int | None:
        pixel = np.floor([x, y])
        first, last = self.boxes[:, :2], self.boxes[:, 2:]
        inside = np.flatnonzero(((first <= pixel) & (pixel < last)).all(axis=1))
        if len(inside) == 0:
            return None
        centres = (first[inside] + last[inside]) / 2
        return int(inside[((centres - pixel - 0.5) ** 2).sum(axis=1).argmin()])

    def outline(self, i: int) -> list[np.ndarray]:
        x0, y0, x1, y1 = self.box(i)
        return [np.array([(x0, y0), (x1, y0), (x1, y1), (x0, y1)], dtype=np.float64)]

    def mask(self, i: int) -> np.ndarray:
        x0, y0, x1, y1 = self.box(i)
        mask = np.zeros(self.shape, dtype=bool)
        mask[y0:y1, x0:x1] = True
        return mask

    def under(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return _within(self.boxes[:, 0::2], x) & _within(self.boxes[:, 1::2], y)

    def centre(self, i: int) -> tuple[float, float]:
        x0, y0, x1, y1 = self.box(i)
        return (x0 + x1) / 2, (y0 + y1) / 2

    def box(self, i: int) -> Box:
        x0, y0, x1, y1 = self.boxes[self._index(i)].tolist()
        return x0, y0, x1, y1


def _within(spans: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Whether each of m places lies in each of n spans, (m, n) bool; the cells of a grid share a few spans."""
    (first, last), span_of = (found.T for found in np.unique(spans, axis=0, return_inverse=True))
    return ((first <= at[:, None]) & (at[:, None] < last))[:, span_of.ravel()]


class LabelRegions(Regions):
    """A label map: KMeansSeg's clusters, any shape, never overlapping.

    `cells` (rows, columns) holds the instance of each cell of an even grid over the picture, −1 for none; a
    grid as fine as the picture is a label per pixel. The full-size map is made only when somebody asks for it.
    """

    def __init__(self, cells: np.ndarray, shape: Size, count: int | None = None) -> None:
        self.cells = np.array(cells)
        self.cells.flags.writeable = False
        self.shape = shape
        if self.cells.shape[0] > shape[0] or self.cells.shape[1] > shape[1]:
            raise ValueError(f"{self.cells.shape} cells are finer than a picture of {shape} pixels")
        self._count = int(self.cells.max(initial=-1)) + 1 if count is None else count

    def __reduce__(self) -> tuple[Any, ...]:
        return LabelRegions, (self.cells, self.shape, self._count)

    def __len__(self) -> int:
        return self._count

    def _labels(self, box: Box) -> np.ndarray:
        """The instance of every pixel in a box that begins and ends at edges of cells."""
        spans = []
        for cuts, start, end in zip(self._edges, (box[1], box[0]), (box[3], box[2]), strict=True):
            first, last = np.searchsorted(cuts, (start, end))
            spans.append((slice(first, last), np.diff(cuts[first : last + 1])))
        (rows, heights), (columns, widths) = spans
        return self.cells[rows, columns].repeat(heights, axis=0).repeat(widths, axis=1)

    def grid(self, scores: Scores) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        y_edges, x_edges = self._edges
        return x_edges, y_edges, np.append(self._checked(scores), np.nan)[self.cells]

    def at(self, x: float, y: float) -> int | None:
        height, width = self.shape
        if not (0 <= x < width and 0 <= y < height):
            return None
        y_edges, x_edges = self._edges
        row, column = (int(np.searchsorted(cuts, int(at), "right")) - 1 for cuts, at in ((y_edges, y), (x_edges, x)))
        label = int(self.cells[row, column])
        return None if label < 0 else label

    def outline(self, i: int) -> list[np.ndarray]:
        y_edges, x_edges = self._edges
        rings = trace(self.cells == self._index(i))
        return [np.stack([x_edges[x], y_edges[y]], axis=1).astype(np.float64) for x, y in (r.T for r in rings)]

    def mask(self, i: int) -> np.ndarray:
        return self._labels((0, 0, *self.shape[::-1])) == self._index(i)

    def under(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        rows, columns = (np.searchsorted(cuts, at, "right") - 1 for cuts, at in zip(self._edges, (y, x), strict=True))
        return self.cells[rows, columns][:, None] == np.arange(len(self))

    def centre(self, i: int) -> tuple[float, float]:
        y_edges, x_edges = self._edges
        area = (self.cells == self._index(i)) * np.outer(np.diff(y_edges), np.diff(x_edges))
        x_middles, y_middles = ((cuts[:-1] + cuts[1:]) / 2 for cuts in (x_edges, y_edges))
        total = area.sum()
        return float(area.sum(axis=0) @ x_middles / total), float(area.sum(axis=1) @ y_middles / total)

    def box(self, i: int) -> Box:
        y_edges, x_edges = self._edges
        own = self.cells == self._index(i)
        rows, columns = np.flatnonzero(own.any(axis=1)), np.flatnonzero(own.any(axis=0))
        x0, x1 = x_edges[[columns[0], columns[-1] + 1]].tolist()
        y0, y1 = y_edges[[rows[0], rows[-1] + 1]].tolist()
        return x0, y0, x1, y1

    def crop(self, image: TissueImage, i: int) -> np.ndarray:
        """The part of the picture inside `box(i)`, (h, w, 3) uint8, other instances faded to white."""
        crop = super().crop(image, i)
        np.copyto(crop, _FADED[crop], where=(self._labels(self.box(i)) != i)[:, :, None])
        return crop

    @cached_property
    def _edges(self) -> tuple[np.ndarray, np.ndarray]:
        rows, columns = self.cells.shape
        height, width = self.shape
        return edges(rows, height), edges(columns, width)


def trace(mask: np.ndarray) -> list[np.ndarray]:
    """Rings around the True cells of `mask` (rows, columns): each (v, 2) int corners x, y, closed implicitly.

    Outer rings run clockwise on the screen (y down), holes anticlockwise; corners on a straight line are left
    out. Cells that touch only at a corner get rings of their own, and no ring touches itself: polygons made of
    them are valid. By hand: shapely's union of the cells gives the same rings in six times the time.

    >>> [ring.tolist() for ring in trace(np.array([[True, True], [True, False]]))]
    [[[0, 0], [2, 0], [2, 1], [1, 1], [1, 2], [0, 2]]]
    """
    steps = _steps(mask)
    crossings = {corner for corner, ways in steps.items() if len(ways) > 1}
    rings: list[list[tuple[int, int]]] = []
    while steps:
        start = next(iter(steps))
        corner, (dx, dy) = start, steps[start][0]
        ring: list[tuple[int, int]] = []
        while True:
            ways = steps[corner]
            # Where two cells touch at a corner both ways lead on; turning right stays with the same cell.
            turn = ways.index((-dy, dx)) if len(ways) > 1 and ring else 0
            step = ways.pop(turn)
            if not ways:
                del steps[corner]
            if corner in crossings and corner in ring:
                # The ring has come back to itself: the loop is one of its own, or the polygon would be invalid.
                rings.append(ring[ring.index(corner) :])
                del ring[ring.index(corner) :]
            if step != (dx, dy) or not ring:
                ring.append(corner)
            dx, dy = step
            corner = (corner[0] + dx, corner[1] + dy)
            if corner == start:
                break
        rings.append(ring)
    return [np.array(ring) for ring in rings]


def _steps(mask: np.ndarray) -> dict[tuple[int, int], list[tuple[int, int]]]:
    """The unit steps along the mask's edge that leave each corner, with the True cell on their right.

    Corners come in reading order, so that the first corner of a ring is always a turn.
    """
    inside = np.pad(mask, 1)
    here, left, above = inside[1:, 1:], inside[1:, :-1], inside[:-1, 1:]
    found: list[tuple[int, int, tuple[int, int]]] = []
    for edge, begin, step in (
        (here & ~above, (0, 0), (1, 0)),  # top edge, to the right
        (~here & above, (1, 0), (-1, 0)),  # bottom edge, to the left
        (~here & left, (0, 0), (0, 1)),  # right edge, down
        (here & ~left, (0, 1), (0, -1)),  # left edge, up
    ):
        for y, x in np.argwhere(edge).tolist():
            found.append((y + begin[1], x + begin[0], step))
    steps: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for y, x, step in sorted(found):
        steps.setdefault((x, y), []).append(step)
    return steps


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
