"""A map as it is painted: coloured cells between edges, the same in the browser and in a file."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import plotly.graph_objects as go

from ui.figures.drawing import Drawing
from ui.figures.map_colours import ColourScale, at
from ui.figures.plain_text import plain

_BELOW_NEXT = 0.999
"""Of the room that a layer has on a joined scale: its end is where the next one begins."""


@dataclass(frozen=True, eq=False)
class Layer:
    """One Plotly heatmap. Cells hold positions on the colour scale from `low` to 1; NaN is not painted."""

    x_edges: np.ndarray  # (columns + 1,) px of the field of view
    y_edges: np.ndarray  # (rows + 1,)
    cells: np.ndarray  # (rows, columns)
    scale: ColourScale
    title: str
    low: float = -1.0
    ticks: tuple[tuple[float, str], ...] = ()
    """Positions on the scale and what they stand for; none for a layer that a legend explains."""

    @property
    def painted(self) -> bool:
        """Whether anything is to be seen of it."""
        return bool(np.isfinite(self.cells).any())

    def rgba(self, shape: tuple[int, int], rows: slice = slice(None)) -> np.ndarray:
        """The layer in pixels of a field of view of `shape`, (h, w, 4) float: 0..255 and alpha 0..1."""
        padded = np.pad(self.cells, 1, constant_values=np.nan)  # beyond the outermost edges
        y, x = (
            np.searchsorted(edges, np.arange(length) + 0.5, "right")
            for edges, length in zip((self.y_edges, self.x_edges), shape, strict=True)
        )
        positions = padded[y[rows]][:, x]
        share = (np.nan_to_num(positions) - self.low) / (1 - self.low)
        colours = at(self.scale, share)
        colours[..., 3] *= np.isfinite(positions)
        return colours

    def add_to(
        self,
        figure: go.Figure | Drawing,
        opacity: float,
        x: float = 0,
        y: float = 0,
        panel: int = 1,
        with_bar: bool = True,
    ) -> None:
        """Paint it on a panel of a figure whose field of view begins at (x, y); the colour bar lies below."""
        suffix = "" if panel == 1 else str(panel)
        bar = {
            "orientation": "h",
            "title": {"text": plain(self.title), "side": "bottom", "font": {"size": 12}},
            "thickness": 10,
            "outlinewidth": 0,
            "tickvals": [position for position, _ in self.ticks],
            "ticktext": [text for _, text in self.ticks],
            "tickfont": {"size": 11},
            "len": 0.9,
            "y": 0,
            "yanchor": "top",
            "ypad": 2,
        }
        shown = with_bar and bool(self.ticks)
        figure.add_heatmap(
            x=self.x_edges + x,
            y=self.y_edges + y,
            z=self.cells.astype(np.float32),  # half the bytes to the browser, more than a screen can show
            zmin=self.low,
            zmax=1.0,
            colorscale=self.scale,
            opacity=opacity,
            hoverinfo="skip",  # the click targets on top answer, with the raw value
            showscale=shown,
            colorbar=bar if shown else None,
            xaxis=f"x{suffix}",
            yaxis=f"y{suffix}",
            name="heatmap",
        )


def joined(layers: Sequence[Layer]) -> Layer:
    """Layers that rise from 0 and paint different cells as one: a browser gets one grid instead of one per class."""
    count = len(layers)
    cells = np.full_like(layers[0].cells, np.nan)
    scale: ColourScale = []
    for number, layer in enumerate(layers):
        own = np.isfinite(layer.cells)
        cells[own] = (number + _BELOW_NEXT * layer.cells[own]) / count
        scale += [((number + position) / count, colour) for position, colour in layer.scale]
    return replace(layers[0], cells=cells, scale=scale, title="")


def blended(pixels: np.ndarray, layers: tuple[Layer, ...], opacity: float, rows: slice = slice(None)) -> np.ndarray:
    """`rows` of a field of view (h, w, 3) with its layers painted on, as the browser shows them."""
    mixed = pixels[rows].astype(np.float64)
    for layer in layers:
        colours = layer.rgba(pixels.shape[:2], rows)
        weight = opacity * colours[..., 3:]
        mixed = mixed * (1 - weight) + colours[..., :3] * weight
    return np.rint(mixed).astype(np.uint8)
