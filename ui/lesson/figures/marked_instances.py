"""A picture with some of its instances marked: known truth, a learner's guess, or nothing at all."""

import numpy as np
import plotly.graph_objects as go

from bag_generators import Bag, TissueImage
from ui.figures.tissue import add_click_targets, add_outline, add_outlines, picture_figure
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
    partly: np.ndarray | None = None,
) -> go.Figure:
    """The picture, its instances outlined; `marked` are framed.

    `truth` (n,) bool paints them red and steelblue; those that show a part of the class, `partly` (n,), are orange.
    """
    figure = picture_figure(image)
    if truth is not None:
        some = np.zeros(len(bag), dtype=bool) if partly is None else partly
        _paint(figure, bag, np.where(truth, 1.0, np.where(some, 0.5, 0.0)), palette)
    if outlined:
        add_outlines(figure, bag, palette)
        for instance in marked:
            add_outline(figure, bag, instance, palette)
        marks = np.zeros(len(bag)) if truth is None else truth.astype(float)
        add_click_targets(figure, bag, marks, palette, "instance")
        names = [f"instance {i}" for i in range(len(bag))]
        if truth is not None:
            names = [f"{name}: {_in_words(t, s)}" for name, t, s in zip(names, truth, some, strict=True)]
        targets = figure.data[-1]
        targets.text = [names[index] for index in targets.customdata]
        targets.hovertemplate = "%{text}<extra></extra>"
        targets.selected = {"marker": {"opacity": 0}}
    return figure.update_layout(height=HEIGHT)


def _in_words(carries: bool, some: bool) -> str:
    return "carries the class" if carries else "shows a part of it" if some else "nothing of it"


def _paint(figure: go.Figure, bag: Bag, states: np.ndarray, palette: Palette) -> None:
    """Paint 1 red, one half orange and 0 steelblue; where regions overlap the colour of the nearest state shows."""
    x_edges, y_edges, values = bag.regions.grid(states)
    figure.add_heatmap(
        x=x_edges,
        y=y_edges,
        z=values,
        zmin=0.0,
        zmax=1.0,
        colorscale=[
            [0, palette.negative], [0.25, palette.negative], [0.25, palette.candidate], [0.75, palette.candidate],
            [0.75, palette.positive], [1, palette.positive],
        ],
        opacity=0.42,
        showscale=False,
        hoverinfo="skip",
        name="truth",
    )  # fmt: skip
