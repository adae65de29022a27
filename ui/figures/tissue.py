"""The tissue picture as a Plotly figure, in original pixel coordinates, with its instances drawn on top."""

import base64

import cv2
import numpy as np
import plotly.graph_objects as go

from bag_generators import Bag, TissueImage
from bag_generators.regions import Regions
from ui.figures.drawing import Drawing
from ui.figures.plain_text import plain
from ui.frame.palette import Palette

DISPLAY_LONG_SIDE = 1024  # px; a figure is sent whole whenever it changes
JPEG_QUALITY = 82
LATTICE = 24  # click targets per side


def display_copy(image: TissueImage, long_side: int = DISPLAY_LONG_SIDE) -> str:
    """The picture as a data URI for the browser: JPEG, at most `long_side` px."""
    pixels = image.pixels
    factor = long_side / max(image.width, image.height)
    if factor < 1:
        size = (max(1, round(image.width * factor)), max(1, round(image.height * factor)))
        pixels = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA)
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


def add_outlines(figure: go.Figure | Drawing, bag: Bag, palette: Palette, x: float = 0, y: float = 0) -> None:
    """Draw the border of every instance, dark on a light halo so that it shows on any stain; the bag lies at (x, y)."""
    xs: list[float | None] = []
    ys: list[float | None] = []
    for index in range(len(bag.features)):
        for polygon in bag.regions.outline(index):
            closed = [*polygon.tolist(), polygon[0].tolist()]
            xs.extend([*(x + point[0] for point in closed), None])
            ys.extend([*(y + point[1] for point in closed), None])
    for colour, width in (("rgba(255,255,255,0.85)", 3), (palette.outline, 1.2)):
        figure.add_scatter(
            x=xs,
            y=ys,
            mode="lines",
            line={"color": colour, "width": width},
            hoverinfo="skip",
            name="outlines",
        )


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
    texts = [
        f"{plain(title)} {score:.4f}, rank {rank} of {len(scores)}" for score, rank in zip(scores, ranks, strict=True)
    ]
    points = _lattice(bag.regions)
    figure.add_scatter(
        x=[left + x for x, _, _ in points],
        y=[top + y for _, y, _ in points],
        mode="markers",
        marker={"symbol": "circle-open", "size": 22, "opacity": 0, "color": palette.chosen, "line": {"width": 4}},
        selected={"marker": {"opacity": 1, "color": palette.chosen}},
        unselected={"marker": {"opacity": 0}},
        customdata=[index for _, _, index in points],
        text=[texts[index] for _, _, index in points],
        hovertemplate="patch %{customdata}<br>%{text}<extra></extra>",
        name="instances",
    )


def _lattice(regions: Regions) -> list[tuple[float, float, int]]:
    """The points of the lattice that lie on an instance, each with it."""
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
