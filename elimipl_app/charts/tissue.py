"""The tissue picture as a Plotly figure, in original pixel coordinates, with its instances drawn on top."""

import base64
from functools import lru_cache
from typing import NamedTuple

import cv2
import numpy as np
import plotly.graph_objects as go

from bag_generators import Bag, TissueImage
from bag_generators.regions import Regions
from elimipl_app.charts.drawing import Drawing, plain
from elimipl_app.shell.palette import Palette


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


DISPLAY_LONG_SIDE = 1024  # px; a figure is sent whole whenever it changes
JPEG_QUALITY = 82
LATTICE = 24  # click targets per side of a bag of few instances
FEW = 64  # instances; more of them are drawn with thinner lines
SMALL, AROUND, FRAMED = 24, 21, 192  # px: of an instance shown in its surroundings, of these, and of the picture made
MOST_LATTICE = 48  # of one with many: two thousand targets are sent and drawn at once


def display_copy(image: TissueImage, long_side: int = DISPLAY_LONG_SIDE) -> str:
    """The picture as a data URI for the browser: JPEG, at most `long_side` px."""
    pixels = image.pixels
    factor = long_side / max(image.width, image.height)
    if factor < 1:
        size = (max(1, round(image.width * factor)), max(1, round(image.height * factor)))
        pixels = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA)
    return data_uri(pixels)


def data_uri(pixels: np.ndarray) -> str:
    """A small picture as a data URI: files of a run that was replaced meanwhile would be asked for in vain."""
    bgr = cv2.cvtColor(pixels, cv2.COLOR_RGB2BGR)
    _, jpeg = cv2.imencode(".jpg", bgr, [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY])
    return "data:image/jpeg;base64," + base64.b64encode(jpeg.tobytes()).decode("ascii")


def picture_figure(image: TissueImage, long_side: int = DISPLAY_LONG_SIDE) -> go.Figure:
    """The bare picture. One data unit is one pixel of the original; y grows downwards."""
    figure = go.Figure()
    figure.add_layout_image(
        source=display_copy(image, long_side),
        xref="x",
        yref="y",
        x=0,
        y=0,
        sizex=image.width,
        sizey=image.height,
        sizing="stretch",
        layer="below",
    )
    figure.update_xaxes(visible=False, range=[0, image.width], constrain="domain")
    figure.update_yaxes(visible=False, range=[image.height, 0], scaleanchor="x", constrain="domain")
    figure.update_layout(
        margin={"l": 0, "r": 0, "t": 0, "b": 0},
        uirevision=image.sha256,
        showlegend=False,
    )
    return figure


def is_wide(bag: Bag, instance: int) -> bool:
    """Whether an instance reaches over more than half of the picture, so that its patch needs room."""
    x0, _, x1, _ = bag.regions.box(instance)
    return 2 * (x1 - x0) > bag.regions.shape[1]


def outline_lines(bag: Bag) -> list[np.ndarray]:
    """The borders of all instances as few lines (v, 2); those of cells of a grid are the lines of the grid."""
    cells = cells_of(bag.regions)
    if cells is None:
        rings = [ring for index in range(len(bag)) for ring in bag.regions.outline(index)]
        return [np.vstack([ring, ring[:1]]) for ring in rings]
    x_edges, y_edges = cells.x_edges.astype(np.float64), cells.y_edges.astype(np.float64)
    upright = [np.array([(x, y_edges[0]), (x, y_edges[-1])]) for x in x_edges]
    return [*upright, *(np.array([(x_edges[0], y), (x_edges[-1], y)]) for y in y_edges)]


def _with_gaps(lines: list[np.ndarray]) -> tuple[list[float | None], list[float | None]]:
    """Lines (v, 2) as the x and y of one trace that lifts its pen between them."""
    xs = [value for line in lines for value in (*line[:, 0].tolist(), None)]
    return xs, [value for line in lines for value in (*line[:, 1].tolist(), None)]


def add_outlines(figure: go.Figure | Drawing, bag: Bag, palette: Palette, x: float = 0, y: float = 0) -> None:
    """Draw the border of every instance, dark on a light halo so that it shows on any stain; the bag lies at (x, y)."""
    xs, ys = _with_gaps([line + np.array([x, y]) for line in outline_lines(bag)])
    bold = 1.0 if len(bag) <= FEW else 0.4
    for colour, width in (("rgba(255,255,255,0.85)", 3 * bold), (palette.outline, 1.2 * bold)):
        figure.add_scatter(
            x=xs,
            y=ys,
            mode="lines",
            line={"color": colour, "width": width},
            hoverinfo="skip",
            name="outlines",
        )


def patch_picture(image: TissueImage, bag: Bag, instance: int) -> np.ndarray:
    """An instance to look at, (h, w, 3) uint8; one of few pixels is framed in its surroundings."""
    x0, y0, x1, y1 = bag.regions.box(instance)
    if min(x1 - x0, y1 - y0) > SMALL:
        return bag.regions.crop(image, instance)
    left, top = max(0, x0 - AROUND), max(0, y0 - AROUND)
    seen = image.pixels[top : y1 + AROUND, left : x1 + AROUND]
    times = max(1, round(FRAMED / max(seen.shape[:2])))
    large = np.ascontiguousarray(seen.repeat(times, axis=0).repeat(times, axis=1))
    corners = [((x - left) * times, (y - top) * times) for x, y in ((x0, y0), (x1, y1))]
    for colour, width in (((255, 255, 255), 4), ((216, 27, 96), 2)):
        cv2.rectangle(large, corners[0], (corners[1][0] - 1, corners[1][1] - 1), colour, width)
    return large


def add_click_targets(
    figure: go.Figure | Drawing,
    bag: Bag,
    scores: np.ndarray,
    palette: Palette,
    title: str,
    left: float = 0,
    top: float = 0,
) -> None:
    """A lattice of invisible points: wherever a person clicks or points, the instance below answers.

    Clicks on a heatmap never reach the server, and one point per instance would miss segments of odd shape. The
    point that was clicked shows itself as a ring, drawn by the browser alone. The bag lies at (left, top).
    """
    ranks = np.argsort(np.argsort(-scores)) + 1
    points = _lattice(bag.regions)
    figure.add_scatter(
        x=[left + x for x, _, _ in points],
        y=[top + y for _, y, _ in points],
        mode="markers",
        marker={"symbol": "circle-open", "size": 22, "opacity": 0, "color": palette.chosen, "line": {"width": 4}},
        selected={"marker": {"opacity": 1, "color": palette.chosen}},
        unselected={"marker": {"opacity": 0}},
        customdata=[index for _, _, index in points],
        text=[f"{scores[index]:.4g}, rank {ranks[index]}" for _, _, index in points],
        hovertemplate=f"patch %{{customdata}}<br>{plain(title)} %{{text}} of {len(scores)}<extra></extra>",
        name="instances",
    )


def _lattice(regions: Regions) -> list[tuple[float, float, int]]:
    """The points that lie on an instance, each with it."""
    if len(regions) > LATTICE**2 // 4 and (cells := cells_of(regions)) is not None:
        return _centres(regions, cells)
    height, width = regions.shape
    middles = np.arange(LATTICE) + 0.5
    x = np.tile(np.round(middles * width / LATTICE, 1), LATTICE)
    y = np.repeat(np.round(middles * height / LATTICE, 1), LATTICE)
    under = regions.under(x.astype(int), y.astype(int))
    found = under.argmax(axis=1)
    for several in np.flatnonzero(under.sum(axis=1) > 1):
        found[several] = regions.at(x[several], y[several])
    there = under.any(axis=1)
    return list(zip(x[there].tolist(), y[there].tolist(), found[there].tolist(), strict=True))


def _centres(regions: Regions, cells: Cells) -> list[tuple[float, float, int]]:
    """The centres of the cells of a grid; where they are more than a screen has room for, of every second, third …"""
    steps = (-(-length // MOST_LATTICE) for length in cells.numbers.shape)
    every = tuple(slice(step // 2, None, step) for step in steps)
    return [(*regions.centre(index), index) for index in cells.numbers[every].ravel().tolist()]


COLOURS = "Cividis"
HEIGHT = 214
INTRICATE = 200  # corners; a border with more of them is drawn thinner


def attention_map(
    image: TissueImage,
    bag: Bag,
    scores: np.ndarray,
    end: float,
    chosen: int | None,
    palette: Palette,
    title: str,
    even: bool = False,
) -> go.Figure:
    """Scores (n,) painted on the picture unless they are `even`; the colours run from 0 to `end`.

    The chosen instance is outlined.
    """
    figure = picture_figure(image)
    x_edges, y_edges, values = bag.regions.grid(scores)
    figure.add_heatmap(
        x=x_edges, y=y_edges, z=values, zmin=0.0, zmax=end, colorscale=COLOURS, showscale=False,
        opacity=0.0 if even else 0.62, hoverinfo="skip", name="heatmap",
    )  # fmt: skip
    if chosen is not None:
        add_outline(figure, bag, chosen, palette)
    add_click_targets(figure, bag, scores, palette, title)
    # The outline says what is chosen; a ring would stay behind in the map that was clicked last.
    figure.update_traces(selected={"marker": {"opacity": 0}}, selector={"name": "instances"})
    return figure.update_layout(height=HEIGHT)


def add_outline(figure: go.Figure, bag: Bag, chosen: int, palette: Palette) -> None:
    """Draw the border of one instance, on a white halo."""
    xs, ys = _with_gaps([np.vstack([ring, ring[:1]]) for ring in bag.regions.outline(chosen)])
    bold = 1.0 if len(xs) < INTRICATE else 0.5
    for colour, width in (("white", 5.0 * bold), (palette.chosen, 2.5 * bold)):
        figure.add_scatter(
            x=xs, y=ys, mode="lines", line={"color": colour, "width": width}, hoverinfo="skip", name="chosen"
        )
