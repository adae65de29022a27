"""A map as lines around the quarter it points at and the one it points away from, so that the tissue can be read."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go

from bag_generators.regions import isolines
from elimipl_app.charts.drawing import Drawing, plain
from elimipl_app.charts.map_layer import COLOUR_PAIRS, Layer

QUARTER = 0.25
"""Share of the picture that a line goes around at most; the removal test keeps as much."""
FAINT = 0.05
"""Of a colour scale: what differs less from the middle of the map is not worth a line."""
SMALLEST = 0.002
"""Share of the picture; smaller islands have no line, for hundreds of them would hide the tissue."""
HALO, OUTER, INNER = 4.5, 2.2, 1.2  # screen px: of the white below each line, of the line, of the one at the peak


class Contour(NamedTuple):
    """One side of a map: the line around its quarter, the one around its peak, and how to tell them from the other."""

    called: str
    colour: str
    dashed: bool
    lines: list[np.ndarray]
    """Each (v, 2) x, y in px of the field of view."""
    peaks: list[np.ndarray]
    share: float
    """Of the field of view, inside the line."""


def contours_of(layer: Layer, colours: str, called: tuple[str, str]) -> tuple[Contour, ...]:
    """What a map points at and, dashed, what it points away from; a side that hardly differs from the rest has none.

    `called` names both sides. Hues are one for each side, and nothing between the lines is painted.
    """
    cells = np.nan_to_num(layer.cells)
    area = np.outer(np.diff(layer.y_edges), np.diff(layer.x_edges))
    against, speaks_for = COLOUR_PAIRS[colours]
    found = []
    for name, colour, sign in zip(called, (speaks_for, against), (1, -1), strict=True):
        level = _level(sign * cells, area)
        if level is None:
            continue
        inside = area[sign * cells >= level].sum() / area.sum()
        peak = (level + (sign * cells).max()) / 2
        lines, peaks = (
            [
                line
                for line in isolines(layer.x_edges, layer.y_edges, sign * cells, one)
                if _enclosed(line) >= SMALLEST * area.sum()
            ]
            for one in (level, peak)
        )
        found.append(Contour(name, colour, sign < 0, lines, peaks if peak - level > FAINT else [], float(inside)))
    return tuple(found)


def _enclosed(line: np.ndarray) -> float:
    """Area inside a line (v, 2); one that ends at the edge of the picture is closed straight."""
    (x, y), (next_x, next_y) = line.T, np.roll(line, -1, axis=0).T
    return float(abs(x @ next_y - next_x @ y) / 2)


def _level(cells: np.ndarray, area: np.ndarray) -> float | None:
    """What the highest quarter of the area lies above; None where it is hardly higher than the middle of the map."""
    order = np.argsort(-cells, axis=None, kind="stable")
    shares = area.ravel()[order].cumsum() / area.sum()
    ranked = cells.ravel()[order]
    quarter, middle = (float(ranked[np.searchsorted(shares, share)]) for share in (QUARTER, 0.5))
    level = max(quarter, FAINT)
    if level - middle < FAINT or ranked[0] <= level:
        return None
    return level


def add_contours(
    figure: go.Figure | Drawing,
    contours: tuple[Contour, ...],
    opacity: float,
    x: float = 0,
    y: float = 0,
    panel: int = 1,
) -> None:
    """Draw them on a panel of a figure whose field of view begins at (x, y), each line on white."""
    suffix = "" if panel == 1 else str(panel)
    for contour in contours:
        strokes = [(contour.lines, OUTER, "dash" if contour.dashed else "solid"), (contour.peaks, INNER, "solid")]
        for lines, width, dash in strokes:
            if not lines:
                continue
            path = np.concatenate([part for line in lines for part in (line + np.array([x, y]), [[np.nan, np.nan]])])
            for colour, wide, stroke in (("white", width + HALO - OUTER, "solid"), (contour.colour, width, dash)):
                figure.add_scatter(
                    x=path[:, 0].astype(np.float32),
                    y=path[:, 1].astype(np.float32),
                    mode="lines",
                    line={"color": colour, "width": wide, "dash": stroke},
                    opacity=opacity,
                    hoverinfo="skip",
                    xaxis=f"x{suffix}",
                    yaxis=f"y{suffix}",
                    name=f"contour: {plain(contour.called)}",
                )


def dashes(line: np.ndarray, length: float) -> list[np.ndarray]:
    """Pieces of a line (v, 2) with gaps between them, all as long as `length`."""
    along = np.concatenate([[0.0], np.hypot(*np.diff(line, axis=0).T).cumsum()])
    pieces = []
    for start in np.arange(0, along[-1], 2 * length):
        at = np.linspace(start, min(start + length, along[-1]), 4)
        pieces.append(np.column_stack([np.interp(at, along, line[:, axis]) for axis in (0, 1)]))
    return pieces
