"""Curves and sums over patches: the flipping curve, and how the patches add up to the score of a class."""

import numpy as np
import plotly.graph_objects as go

from elimipl.trust.one_bag import FlippingCurve
from ui.figures.instances import MOST_BARS
from ui.figures.plain_text import plain
from ui.frame.palette import Palette

HEIGHT = 260


def flipping_figure(curve: FlippingCurve, name: str, palette: Palette) -> go.Figure:
    """The probability of a class while patches go, in the map's order and in random orders."""
    figure = go.Figure()
    for title, values, colour, dash in (
        ("highest on the map first", curve.by_score, palette.chosen, "solid"),
        ("random order", curve.by_chance, palette.muted, "dash"),
    ):
        figure.add_scatter(
            x=curve.removed,
            y=values,
            mode="lines",
            name=title,
            line={"color": colour, "dash": dash, "width": 2.5},
            hovertemplate="%{x} patches gone: %{y:.1%}<extra></extra>",
        )
    figure.update_xaxes(title="patches taken away")
    figure.update_yaxes(title=f"probability of {plain(name)}", range=[0, 1.03], tickformat=".0%")
    return figure.update_layout(height=HEIGHT, showlegend=True)


def running_sum_figure(contributions: np.ndarray, name: str, palette: Palette) -> go.Figure:
    """What the patches add (n,), the largest first, and their sum on the way to the score of the class."""
    order = np.argsort(-contributions, kind="stable")
    places = np.arange(1, len(order) + 1)
    figure = go.Figure()
    if len(order) <= MOST_BARS:
        figure.add_bar(
            x=places,
            y=contributions[order],
            marker={"color": np.where(contributions[order] >= 0, palette.positive, palette.negative).tolist()},
            customdata=order,
            name="added by the patch",
            hovertemplate="patch %{customdata}: %{y:+.3f}<extra></extra>",
        )
    shown = np.unique(np.linspace(0, len(order) - 1, min(len(order), MOST_BARS)).round().astype(int))
    figure.add_scatter(
        x=places[shown],
        y=np.cumsum(contributions[order])[shown],
        mode="lines",
        name=f"running sum, at last the score of {plain(name)}",
        line={"color": palette.text, "width": 2},
        hovertemplate="first %{x} patches: %{y:+.3f}<extra></extra>",
    )
    figure.update_xaxes(title="patches, from most for to most against the class")
    figure.update_yaxes(title="score (logit)", zeroline=True)
    return figure.update_layout(height=HEIGHT, showlegend=True, bargap=0.1)
