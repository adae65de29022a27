"""The path of the probabilities while one loss is minimised."""

import numpy as np
import plotly.graph_objects as go

from elimipl.labels import LabelSpace
from ui.frame.palette import Palette

DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot", "solid")
LINES_HEIGHT = 290


def descent_figure(
    path: np.ndarray, step: int, labels: LabelSpace, candidates: np.ndarray, palette: Palette
) -> go.Figure:
    """`path` (steps + 1, k) up to `step`: candidates as single lines, all non-candidates together as one."""
    figure = go.Figure()
    shown = list(range(step + 1))
    for number, index in enumerate(np.flatnonzero(candidates).tolist()):
        figure.add_scatter(
            x=shown,
            y=path[: step + 1, index],
            mode="lines+markers" if step == 0 else "lines",
            line={"color": palette.candidate, "width": 3, "dash": DASHES[number % len(DASHES)]},
            name=labels.names[index],
            hovertemplate=labels.names[index] + " after %{x} steps: %{y:.1%}<extra></extra>",
        )
    figure.add_scatter(
        x=shown,
        y=path[: step + 1, ~candidates].sum(axis=1),
        mode="lines+markers" if step == 0 else "lines",
        line={"color": palette.non_candidate, "width": 3},
        name="all non-candidates",
        hovertemplate="non-candidates after %{x} steps: %{y:.1%}<extra></extra>",
    )
    figure.update_xaxes(title="steps of gradient descent", range=[0, len(path) - 1])
    figure.update_yaxes(range=[0, 1.02], tickformat=".0%")
    return figure.update_layout(height=LINES_HEIGHT)
