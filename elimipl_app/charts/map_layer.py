"""Maps as they are painted, alike in browser and file: cells between edges, colours that are seen on pink tissue."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from types import MappingProxyType

import cv2
import numpy as np
import plotly.graph_objects as go
from PIL import ImageColor

from elimipl.candidates.labels import LabelSpace
from elimipl_app.charts.drawing import Drawing, plain

COLOUR_PAIRS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "Teal": ("#8C4A00", "#00746B"),
        "Blue": ("#A63603", "#08519C"),
        "Yellow": ("#1B1464", "#FFD400"),
        "Grey": ("#FFFFFF", "#000000"),
    }
)
"""Below and above the middle, by the name a person chooses; none of them is a colour of haematoxylin or eosin."""

TISSUE = ("#E9B8D0", "#D98FB5", "#C58BC0", "#8E5A9E", "#F4DCE8")
"""Usual colours of a section stained with haematoxylin and eosin."""
APART_FROM_TISSUE = 28.0  # distance in CIE L*a*b* below which a colour is lost on the section
RESERVE = ("#5B2A00", "#00E5FF", "#7CFC00", "#1A1A1A", "#0B3D91", "#B8860B")

_ALPHAS = ((0.0, 0.0), (0.12, 0.35), (0.4, 0.7), (1.0, 1.0))
"""How opaque a colour is along its half of the scale: small differences stay faint, but can be seen."""

BELOW = 0.7
"""What lies below the middle is paler: the eye is meant to find what lies above."""

ColourScale = list[tuple[float, str]]


def diverging(colours: str) -> ColourScale:
    """A Plotly scale that is clear in the middle and grows opaque towards both ends."""
    below, above = COLOUR_PAIRS[colours]
    low = [(0.5 - position / 2, rgba(below, BELOW * alpha)) for position, alpha in reversed(_ALPHAS)]
    high = [(0.5 + position / 2, rgba(above, alpha)) for position, alpha in _ALPHAS]
    return [*low, *high]


def rising(colour: str) -> ColourScale:
    """A Plotly scale that is clear at its start and opaque at its end."""
    return [(position, rgba(colour, alpha)) for position, alpha in _ALPHAS]


def at(scale: ColourScale, share: np.ndarray) -> np.ndarray:
    """What a scale shows at positions 0..1, (…, 4) float: red, green, blue 0..255 and alpha 0..1, as browsers do."""
    stops = np.array([stop for stop, _ in scale])
    colours = np.array([_numbers(colour) for _, colour in scale])
    return np.stack([np.interp(share, stops, colours[:, channel]) for channel in range(4)], axis=-1)


def class_colours(labels: LabelSpace) -> tuple[str, ...]:
    """One colour per class: its own, or one of the reserve where its own is a colour of the tissue itself."""
    return _seen_on_tissue(labels.colours)


@lru_cache(maxsize=64)
def _seen_on_tissue(colours: tuple[str, ...]) -> tuple[str, ...]:
    free = iter(colour for colour in RESERVE if colour not in colours)
    return tuple(colour if is_seen_on_tissue(colour) else next(free, colour) for colour in colours)


def is_seen_on_tissue(colour: str) -> bool:
    """Whether a colour differs enough from everything a stained section usually shows.

    >>> is_seen_on_tissue("#CC79A7"), is_seen_on_tissue("#009E73")
    (False, True)
    """
    return min(float(np.linalg.norm(_lab(colour) - _lab(other))) for other in TISSUE) >= APART_FROM_TISSUE


def rgba(colour: str, alpha: float) -> str:
    """A hex code as a colour of CSS with an opacity from 0 to 1."""
    red, green, blue = ImageColor.getrgb(colour)[:3]
    return f"rgba({red},{green},{blue},{alpha:.3g})"


def _numbers(rgba: str) -> list[float]:
    return [float(part) for part in rgba.removeprefix("rgba(").removesuffix(")").split(",")]


def _lab(colour: str) -> np.ndarray:
    """CIE L*a*b* (D65) of a hex code."""
    pixel = np.array([[ImageColor.getrgb(colour)]], dtype=np.float32) / 255
    return cv2.cvtColor(pixel, cv2.COLOR_RGB2LAB)[0, 0]


EVEN = 1.2
"""Attention within this factor of an even share is even."""


def times_even_share(attention: np.ndarray) -> np.ndarray:
    """n·a_j: how many times an even share of the attention each instance gets."""
    return len(attention) * np.asarray(attention)


def is_even(attention: np.ndarray) -> bool:
    """Whether no instance gets more or less than an even share worth speaking of.

    >>> is_even(np.array([0.3, 0.35, 0.35])), is_even(np.array([0.2, 0.4, 0.4]))
    (True, False)
    """
    times = times_even_share(attention)
    return bool(times.max() < EVEN and times.min() > 1 / EVEN)


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
