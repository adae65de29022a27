"""The paper's Figure 2 over the epochs, and its bars for several methods."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from elimipl.training.figure_two import NAMES
from ui.frame.palette import Palette

_DASHES = ("solid", "dash", "longdashdot", "dot")


def four_curves(
    four: np.ndarray, palette: Palette, epochs: int, first: int = 0, marked: int | None = None, top: float = 1.0
) -> go.Figure:
    """Curves of (t, 4) `four_probabilities` from epoch `first` on; `marked` draws a line at an epoch.

    `top` is the highest probability the scale has to reach.
    """
    figure = go.Figure()
    for column, (name, colour) in enumerate(zip(NAMES, _colours(palette), strict=True)):
        figure.add_scatter(
            x=np.arange(first, first + len(four)),
            y=four[:, column],
            mode="lines+markers" if len(four) == 1 else "lines",
            name=name,
            line={"color": colour, "dash": _DASHES[column], "width": 3},
            hovertemplate=f"{name} %{{y:.1%}}<extra></extra>",
        )
    if marked is not None:
        figure.add_vline(x=marked, line={"color": palette.muted, "width": 1.5})
    figure.update_xaxes(title="epoch", range=[0, epochs + 0.5])
    figure.update_yaxes(range=[0, 1.03 * top], tickformat=".0%")
    return figure.update_layout(height=280, hovermode="x unified")


def final_bars(four: np.ndarray, palette: Palette, top: float = 1.0) -> go.Figure:
    """The bars of Figure 2 and the false candidates, (4,)."""
    figure = go.Figure()
    figure.add_bar(
        x=[name.replace("average ", "").replace(" ", "<br>").replace("non-", "non-<br>") for name in NAMES],
        y=four,
        marker={"color": _colours(palette)},
        text=[f"{value:.1%}" for value in four],
        textposition="outside",
        cliponaxis=False,
        hovertemplate="%{x}: %{y:.1%}<extra></extra>",
        showlegend=False,
    )
    figure.update_xaxes(tickangle=0, showgrid=False)
    figure.update_yaxes(range=[0, 1.15 * top], tickvals=[0, top / 2, top], tickformat=".0%")
    return figure.update_layout(height=250, bargap=0.45, margin={"b": 65})


def method_bars(four: np.ndarray, methods: Sequence[str], palette: Palette, top: float = 1.0) -> go.Figure:
    """The bars of every method side by side: (M, 4)."""
    figure = go.Figure()
    for column, (name, colour) in enumerate(zip(NAMES, _colours(palette), strict=True)):
        figure.add_bar(
            x=list(methods),
            y=four[:, column],
            name=name,
            marker={"color": colour},
            hovertemplate=f"%{{x}}, {name}: %{{y:.1%}}<extra></extra>",
        )
    figure.update_xaxes(showgrid=False)
    figure.update_yaxes(range=[0, 1.03 * top], tickformat=".0%")
    return figure.update_layout(height=300, barmode="group", bargap=0.25)


def _colours(palette: Palette) -> tuple[str, str, str, str]:
    return palette.true, palette.candidate, palette.chosen, palette.non_candidate
