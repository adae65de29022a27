"""Probability bars with an arrow on each: where one step of gradient descent moves it."""

import numpy as np
import plotly.graph_objects as go

from elimipl.labels import LabelSpace
from ui.figures.bars import class_bars
from ui.frame.palette import Palette

SMALLEST_ARROW = 0.002


def loss_arrows(
    before: np.ndarray, after: np.ndarray, labels: LabelSpace, candidates: np.ndarray, true_index: int, palette: Palette
) -> go.Figure:
    """Bars of `before` (k,), arrows to `after` (k,); an arrow shorter than a fifth of a percent is left out."""
    figure = class_bars(before, labels, candidates, palette, true_index)
    figure.update_traces(textposition="none")
    for name, start, end in zip(labels.names, before, after, strict=True):
        if abs(end - start) < SMALLEST_ARROW:
            continue
        figure.add_annotation(
            x=float(end), y=name, ax=float(start), ay=name, xref="x", yref="y", axref="x", ayref="y",
            text="", showarrow=True, arrowhead=2, arrowsize=1.1, arrowwidth=3, arrowcolor=palette.chosen,
        )  # fmt: skip
    for index, name in enumerate(labels.names):
        figure.add_annotation(
            x=1.48, y=name, xanchor="right", showarrow=False, font={"size": 12},
            text=f"{before[index]:.1%} → {after[index]:.1%}" + (" ◀ true" if index == true_index else ""),
        )  # fmt: skip
    return figure.update_xaxes(range=[0, 1.5])
