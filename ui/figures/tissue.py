"""The tissue picture as a Plotly figure, in original pixel coordinates, with its instances drawn on top."""

import base64

import cv2
import plotly.graph_objects as go

from bag_generators import Bag, TissueImage
from ui.palette import Palette

DISPLAY_LONG_SIDE = 1024
JPEG_QUALITY = 88
WHOLE_FIGURE = {"displayModeBar": False, "scrollZoom": False, "responsive": True}


def display_copy(image: TissueImage) -> str:
    """The picture as a data URI for the browser: JPEG, at most 1024 px on the long side."""
    pixels = image.pixels
    factor = DISPLAY_LONG_SIDE / max(image.width, image.height)
    if factor < 1:
        size = (max(1, round(image.width * factor)), max(1, round(image.height * factor)))
        pixels = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA)
    bgr = cv2.cvtColor(pixels, cv2.COLOR_RGB2BGR)
    _, jpeg = cv2.imencode(".jpg", bgr, [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY])
    return "data:image/jpeg;base64," + base64.b64encode(jpeg.tobytes()).decode("ascii")


def picture_figure(image: TissueImage, palette: Palette) -> go.Figure:
    """The bare picture. One data unit is one pixel of the original; y grows downwards."""
    figure = go.Figure()
    figure.add_layout_image(
        source=display_copy(image),
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
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"color": palette.text},
        uirevision=image.sha256,
        dragmode=False,
        showlegend=False,
    )
    return figure


def add_outlines(figure: go.Figure, bag: Bag, palette: Palette) -> None:
    """Draw the border of every instance, dark on a light halo so that it shows on any stain."""
    xs: list[float | None] = []
    ys: list[float | None] = []
    for index in range(len(bag.features)):
        for polygon in bag.regions.outline(index):
            closed = [*polygon.tolist(), polygon[0].tolist()]
            xs.extend([*(point[0] for point in closed), None])
            ys.extend([*(point[1] for point in closed), None])
    for colour, width in (("rgba(255,255,255,0.85)", 3), (palette.outline, 1.2)):
        figure.add_scatter(
            x=xs,
            y=ys,
            mode="lines",
            line={"color": colour, "width": width},
            hoverinfo="skip",
            name="outlines",
        )


def add_hover_targets(figure: go.Figure, bag: Bag) -> None:
    """Invisible points at the instances' centres: what the mouse meets when it looks for an instance."""
    centres = [bag.regions.centre(index) for index in range(len(bag.features))]
    figure.add_scatter(
        x=[centre[0] for centre in centres],
        y=[centre[1] for centre in centres],
        mode="markers",
        marker={"symbol": "square", "size": 28, "opacity": 0},
        customdata=list(range(len(centres))),
        hovertemplate="instance %{customdata}<extra></extra>",
        name="instances",
    )
