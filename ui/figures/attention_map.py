"""A small attention map for comparing several bags of one picture on one colour scale."""

import numpy as np
import plotly.graph_objects as go

from bag_generators import Bag, TissueImage
from ui.figures.tissue import add_click_targets, picture_figure
from ui.frame.palette import Palette

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
    xs: list[float | None] = []
    ys: list[float | None] = []
    for polygon in bag.regions.outline(chosen):
        closed = [*polygon.tolist(), polygon[0].tolist()]
        xs.extend([*(x for x, _ in closed), None])
        ys.extend([*(y for _, y in closed), None])
    bold = 1.0 if len(xs) < INTRICATE else 0.5
    for colour, width in (("white", 5.0 * bold), (palette.chosen, 2.5 * bold)):
        figure.add_scatter(
            x=xs, y=ys, mode="lines", line={"color": colour, "width": width}, hoverinfo="skip", name="chosen"
        )
