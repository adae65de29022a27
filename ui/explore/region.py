"""A region a person draws: how much of the map lies in it, against its share of the area."""

from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np

from bag_generators import Bag
from elimipl.trust import auroc
from ui.figures.cells import cells_of

MEMBER = 0.5
"""A patch belongs to the region when at least this share of it lies inside."""


@dataclass(frozen=True)
class RegionNumbers:
    """What a region holds."""

    attention: float
    """Share of the attention, each patch's spread evenly over its area."""
    area: float
    """Share of what the patches cover."""
    patches: int
    """Patches that lie in it for the most part."""
    auroc: float | None
    """How well the scores on the map tell these patches from the others; None where there are none or no others."""


def polygons_of(selection: dict[str, Any]) -> list[np.ndarray]:
    """The boxes and free shapes of a Plotly selection as polygons (v, 2)."""
    boxes = [
        np.array([(x0, y0), (x1, y0), (x1, y1), (x0, y1)], dtype=np.float64)
        for (x0, x1), (y0, y1) in ((box["x"], box["y"]) for box in selection.get("box", ()))
    ]
    shapes = [np.column_stack([shape["x"], shape["y"]]).astype(np.float64) for shape in selection.get("lasso", ())]
    return [polygon for polygon in (*boxes, *shapes) if len(polygon) >= 3]


def mask_of(polygons: list[np.ndarray], shape: tuple[int, int], x: int, y: int) -> np.ndarray:
    """Pixels of a field of view at (x, y) that lie in the polygons, (H, W) bool."""
    mask = np.zeros(shape, dtype=np.uint8)
    for polygon in polygons:
        corners = np.floor(np.clip(polygon - (x, y), -30_000, 30_000)).astype(np.int32)
        cv2.fillPoly(mask, [corners], 1)
    return mask.astype(bool)


def shares_inside(bag: Bag, mask: np.ndarray) -> np.ndarray:
    """Share of each patch that lies in the mask, (n,)."""
    if (cells := cells_of(bag.regions)) is not None:
        return np.asarray(cells.totals(mask) / cells.totals(np.ones_like(mask)))
    shares = np.zeros(len(bag))
    for index in range(len(bag)):
        x0, y0, x1, y1 = bag.regions.box(index)
        own = bag.regions.mask(index)[y0:y1, x0:x1]
        shares[index] = mask[y0:y1, x0:x1][own].mean() if own.any() else 0.0
    return shares


def members_of(bag: Bag, mask: np.ndarray) -> set[int]:
    """The patches that lie in the mask for the most part."""
    return set(np.flatnonzero(shares_inside(bag, mask) >= MEMBER).tolist())


def region_numbers(bag: Bag, attention: np.ndarray, scores: np.ndarray, mask: np.ndarray) -> RegionNumbers:
    """Attention and area inside a mask, and how well `scores` find it."""
    inside = shares_inside(bag, mask)
    members = inside >= MEMBER
    covered = np.isfinite(bag.regions.paint(np.zeros(len(bag))))
    return RegionNumbers(
        attention=float(attention @ inside),
        area=float((mask & covered).sum() / max(covered.sum(), 1)),
        patches=int(members.sum()),
        auroc=auroc(members, scores) if 0 < members.sum() < len(members) else None,
    )
