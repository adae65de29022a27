"""Held-out accuracy over the epochs for several what-ifs, the latest in front."""

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from elimipl.labels import OKABE_ITO
from ui.figures.drawing import plain
from ui.frame.palette import Palette


def what_if_curves(curves: Mapping[str, Sequence[float]], epochs: int, chance: float, palette: Palette) -> go.Figure:
    """One line a what-if by its title, the last one thick; a dotted line says what guessing would get."""
    figure = go.Figure()
    for number, (title, values) in enumerate(curves.items()):
        latest = number == len(curves) - 1
        figure.add_scatter(
            x=list(range(1, len(values) + 1)),
            y=list(values),
            mode="lines+markers" if len(values) == 1 else "lines",
            name=plain(title),
            line={"color": palette.chosen if latest else OKABE_ITO[number], "width": 4 if latest else 1.5},
            hovertemplate=f"{plain(title)} %{{y:.0%}}<extra></extra>",
        )
    figure.add_hline(y=chance, line={"color": palette.muted, "dash": "dot", "width": 1.5})
    figure.update_xaxes(title="epoch", range=[0, epochs + 0.5])
    figure.update_yaxes(title="held-out accuracy", range=[0, 1.03], tickformat=".0%")
    below = {"orientation": "h", "y": -0.25, "yanchor": "top"}
    return figure.update_layout(height=340, hovermode="x unified", showlegend=True, legend=below)
