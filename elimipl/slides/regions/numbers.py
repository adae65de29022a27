"""What a map says inside a region: area, share of each class, share of the attention, and how well it finds it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import shapely

from elimipl.answers.trust import auroc
from elimipl.slides import SlideMap


@dataclass(frozen=True)
class RegionNumbers:
    """Numbers of one region; None where they do not exist (no scale, nothing mapped, everything or nothing inside)."""

    area_mm2: float | None
    mapped: float
    """Share of the region's area that the map covers."""
    class_shares: dict[str, float]
    """Of the mapped area, the largest first; classes that do not occur are left out."""
    attention_share: float | None
    """Of all attention on the slide."""
    auroc_attention: float | None
    auroc_class: float | None
    """Of the probability of the region's most frequent class: do cells inside have more of it than those outside?"""


def area_mm2(area: Any, microns_per_pixel: float | None) -> float | None:
    """Square millimetres of an area given in pixels."""
    return None if microns_per_pixel is None else float(area.area) * microns_per_pixel**2 / 1e6


def measure_region(area: Any, microns_per_pixel: float | None, slide_map: SlideMap | None) -> RegionNumbers:
    """All numbers of a region; tiles count by the part of them that lies inside."""
    size = area_mm2(area, microns_per_pixel)
    if slide_map is None:
        return RegionNumbers(size, 0.0, {}, None, None, None)
    parts = coverage(area, slide_map)  # of the parts of tiles, for each of which there is an attention
    rows, columns = slide_map.grid.rows, slide_map.grid.columns
    inside = parts.reshape(rows, parts.shape[0] // rows, columns, parts.shape[1] // columns).mean(axis=(1, 3))
    tissue = slide_map.grid.is_tissue
    inside = np.where(tissue, inside, 0.0)
    pixels = np.outer(np.diff(slide_map.grid.y_edges), np.diff(slide_map.grid.x_edges))
    shares = sorted(slide_map.shares(inside).items(), key=lambda pair: -pair[1])
    largest = {name: share for name, share in shares if share > 0}
    mostly = inside[tissue] >= 0.5
    scores = None
    if largest:
        scores = slide_map.probabilities[:, :, slide_map.label_space.index(next(iter(largest)))][tissue]
    return RegionNumbers(
        size,
        float((inside * pixels).sum()) / float(area.area),
        largest,
        _share_of_attention(parts, slide_map),
        auroc(mostly, slide_map.tile_attention[tissue]),
        None if scores is None else auroc(mostly, scores),
    )


def coverage(area: Any, slide_map: SlideMap) -> np.ndarray:
    """Which part of each cell of the map's attention lies inside an area, from 0 to 1 in the shape of it."""
    x, y = (_in_parts(edges, parts) for edges, parts in _axes(slide_map))
    covered = np.zeros(slide_map.attention.shape)
    left, top, right, bottom = area.bounds  # the other cells need no look
    columns = slice(max(0, int(np.searchsorted(x, left, "right")) - 1), int(np.searchsorted(x, right)))
    rows = slice(max(0, int(np.searchsorted(y, top, "right")) - 1), int(np.searchsorted(y, bottom)))
    grid_left, grid_top = np.meshgrid(x[:-1][columns], y[:-1][rows])
    grid_right, grid_bottom = np.meshgrid(x[1:][columns], y[1:][rows])
    cells = shapely.box(grid_left, grid_top, grid_right, grid_bottom)
    shapely.prepare(area)
    near = shapely.contains_properly(area, cells).astype(float)
    crossed = shapely.intersects(area, cells) & (near == 0)
    near[crossed] = shapely.area(shapely.intersection(cells[crossed], area)) / shapely.area(cells[crossed])
    covered[rows, columns] = near
    return covered


def _axes(slide_map: SlideMap) -> list[tuple[np.ndarray, int]]:
    """Edges of tiles and how many parts a tile has, across and down."""
    down, across = slide_map.attention.shape
    return [
        (slide_map.grid.x_edges, across // slide_map.grid.columns),
        (slide_map.grid.y_edges, down // slide_map.grid.rows),
    ]


def _in_parts(edges: np.ndarray, parts: int) -> np.ndarray:
    """Edges of the parts of tiles, `parts` of equal length in each.

    >>> _in_parts(np.array([0, 8, 10]), 2).tolist()
    [0.0, 4.0, 8.0, 9.0, 10.0]
    """
    tiles = len(edges) - 1
    return np.interp(np.arange(tiles * parts + 1) / parts, np.arange(tiles + 1), edges)


def _share_of_attention(parts: np.ndarray, slide_map: SlideMap) -> float | None:
    """How much of all attention lies inside, each cell by its area."""
    x, y = (_in_parts(edges, number) for edges, number in _axes(slide_map))
    attention = slide_map.attention * np.outer(np.diff(y), np.diff(x))
    total = float(attention.sum())
    return float((parts * attention).sum()) / total if total > 0 else None
