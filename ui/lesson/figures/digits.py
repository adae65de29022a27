"""The pictures of a bag of digits in a row, each framed by what it is."""

import numpy as np
import plotly.graph_objects as go

from ui.frame.palette import Palette

SIDE, GAP = 8, 2


def digit_row(pixels: np.ndarray, truth: np.ndarray, palette: Palette) -> go.Figure:
    """Instances (n, 64) of 0..16 side by side; positives in a red frame, negatives steelblue."""
    n = len(pixels)
    width = SIDE + GAP
    figure = go.Figure()
    canvas = np.full((SIDE, n * width - GAP), np.nan)
    for i, instance in enumerate(pixels):
        canvas[:, i * width : i * width + SIDE] = np.asarray(instance).reshape(SIDE, SIDE)
    figure.add_heatmap(
        z=canvas, zmin=0, zmax=16, colorscale="gray", reversescale=True, showscale=False, hoverinfo="skip"
    )
    for i, positive in enumerate(truth):
        left = i * width - 0.5
        figure.add_shape(
            type="rect", x0=left - 0.4, x1=left + SIDE + 0.4, y0=-0.9, y1=SIDE - 0.1,
            line={"color": palette.positive if positive else palette.negative, "width": 3},
        )  # fmt: skip
        figure.add_annotation(
            x=left + SIDE / 2, y=SIDE + 0.4, yanchor="top", text=f"{i}", showarrow=False,
            font={"size": 12},
        )  # fmt: skip
    figure.update_xaxes(visible=False, range=[-2, n * width])
    figure.update_yaxes(visible=False, range=[SIDE + 4, -2], scaleanchor="x", constrain="domain")
    return figure.update_layout(
        height=120,
        margin={"l": 0, "r": 0, "t": 4, "b": 0},
        showlegend=False,
    )
