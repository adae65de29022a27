"""The paper's Figure 2 over the epochs, and its bars for several methods."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from ui.frame.palette import Palette

NAMES = ("true label", "average candidate", "average non-candidate")
_DASHES = ("solid", "dash", "dot")


def three_probabilities(probabilities: np.ndarray, candidates: np.ndarray, true_index: int) -> np.ndarray:
    """(…, k) probabilities as (…, 3): true label, mean over the candidates, mean over the non-candidates."""
    values = np.asarray(probabilities, np.float64)
    parts = (values[..., true_index], values[..., candidates].mean(-1), values[..., ~candidates].mean(-1))
    return np.stack(parts, axis=-1)


def three_curves(
    three: np.ndarray, palette: Palette, epochs: int, first: int = 0, marked: int | None = None
) -> go.Figure:
    """Curves of (t, 3) `three_probabilities` from epoch `first` on; `marked` draws a line at an epoch."""
    figure = go.Figure()
    for column, (name, colour) in enumerate(zip(NAMES, _colours(palette), strict=True)):
        figure.add_scatter(
            x=np.arange(first, first + len(three)),
            y=three[:, column],
            mode="lines+markers" if len(three) == 1 else "lines",
            name=name,
            line={"color": colour, "dash": _DASHES[column], "width": 3},
            hovertemplate=f"{name} %{{y:.1%}}<extra></extra>",
        )
    if marked is not None:
        figure.add_vline(x=marked, line={"color": palette.muted, "width": 1.5})
    figure.update_xaxes(title="epoch", range=[0, epochs + 0.5])
    figure.update_yaxes(range=[0, 1.03], tickformat=".0%")
    return figure.update_layout(height=280, hovermode="x unified")


def final_bars(three: np.ndarray, palette: Palette) -> go.Figure:
    """The three bars of Figure 2, (3,)."""
    figure = go.Figure()
    figure.add_bar(
        x=[name.replace(" ", "<br>").replace("non-", "non-<br>") for name in NAMES],
        y=three,
        marker={"color": _colours(palette)},
        text=[f"{value:.1%}" for value in three],
        textposition="outside",
        cliponaxis=False,
        hovertemplate="%{x}: %{y:.1%}<extra></extra>",
        showlegend=False,
    )
    figure.update_xaxes(tickangle=0, showgrid=False)
    figure.update_yaxes(range=[0, 1.15], tickvals=[0, 0.5, 1], tickformat=".0%")
    return figure.update_layout(height=250, bargap=0.45, margin={"b": 65})


def method_bars(three: np.ndarray, methods: Sequence[str], palette: Palette) -> go.Figure:
    """The three bars of every method side by side: (M, 3)."""
    figure = go.Figure()
    for column, (name, colour) in enumerate(zip(NAMES, _colours(palette), strict=True)):
        figure.add_bar(
            x=list(methods),
            y=three[:, column],
            name=name,
            marker={"color": colour},
            hovertemplate=f"%{{x}}, {name}: %{{y:.1%}}<extra></extra>",
        )
    figure.update_xaxes(showgrid=False)
    figure.update_yaxes(range=[0, 1.03], tickformat=".0%")
    return figure.update_layout(height=300, barmode="group", bargap=0.25)


def _colours(palette: Palette) -> tuple[str, str, str]:
    return palette.true, palette.candidate, palette.non_candidate
