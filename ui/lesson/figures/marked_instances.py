"""A picture with some of its instances marked: known truth, a learner's guess, or nothing at all."""

import numpy as np
import plotly.graph_objects as go

from bag_generators import Bag, TissueImage
from ui.figures.attention_map import add_outline
from ui.figures.tissue import add_click_targets, add_outlines, picture_figure
from ui.frame.palette import Palette

HEIGHT = 400
CLEAR = "rgba(255,255,255,0)"


def marked_picture(
    image: TissueImage,
    bag: Bag,
    palette: Palette,
    truth: np.ndarray | None = None,
    marked: tuple[int, ...] = (),
    outlined: bool = True,
) -> go.Figure:
    """The picture, its instances outlined; `truth` (n,) bool paints them red and steelblue, `marked` are framed."""
    figure = picture_figure(image)
    if truth is not None:
        _paint(figure, bag, truth.astype(float), palette.negative, palette.positive)
    if outlined:
        add_outlines(figure, bag, palette)
        for instance in marked:
            add_outline(figure, bag, instance, palette)
        marks = np.zeros(len(bag)) if truth is None else truth.astype(float)
        add_click_targets(figure, bag, marks, palette, "instance")
        names = [f"instance {i}" for i in range(len(bag))]
        if truth is not None:
            names = [
                f"{name}: {'carries the class' if t else 'background'}" for name, t in zip(names, truth, strict=True)
            ]
        targets = figure.data[-1]
        targets.text = [names[index] for index in targets.customdata]
        targets.hovertemplate = "%{text}<extra></extra>"
        targets.selected = {"marker": {"opacity": 0}}
    return figure.update_layout(height=HEIGHT)


def _paint(figure: go.Figure, bag: Bag, scores: np.ndarray, low: str, high: str) -> None:
    x_edges, y_edges, values = bag.regions.grid(scores)
    figure.add_heatmap(
        x=x_edges,
        y=y_edges,
        z=values,
        zmin=0.0,
        zmax=1.0,
        colorscale=[[0, low], [1, high]],
        opacity=0.42,
        showscale=False,
        hoverinfo="skip",
        name="truth",
    )
