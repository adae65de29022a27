"""The disambiguation weights of a few bags: how much training believes in each candidate label."""

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from elimipl.labels import LabelSpace
from ui.palette import Palette

COLUMNS = 3


def weight_bars(
    weights: np.ndarray, candidates: np.ndarray, true_labels: np.ndarray, space: LabelSpace, palette: Palette
) -> go.Figure:
    """One small panel a bag, one bar a class; non-candidates have no weight and a name in grey.

    weights: (b, k), rows sum to 1; candidates: (b, k) bool; true_labels: (b,), −1 = unknown
    """
    rows = -(-len(weights) // COLUMNS)
    titles = [_title(space, label) for label in true_labels]
    figure = make_subplots(rows=rows, cols=COLUMNS, subplot_titles=titles, vertical_spacing=0.2, shared_yaxes=True)
    for number, (share, members, label) in enumerate(zip(weights, candidates, true_labels, strict=True)):
        place = {"row": number // COLUMNS + 1, "col": number % COLUMNS + 1}
        names = [_tick(name, bool(is_member), palette) for name, is_member in zip(space.names, members, strict=True)]
        figure.add_bar(
            x=np.arange(len(share)),
            y=share,
            marker={"color": [palette.true if c == label else palette.candidate for c in range(len(share))]},
            customdata=list(space.names),
            hovertemplate="%{customdata}: %{y:.1%}<extra></extra>",
            name=f"bag {number}",
            **place,
        )
        figure.update_xaxes(tickvals=np.arange(len(share)), ticktext=names, **place)
    figure.update_yaxes(range=[0, 1.05], tickformat=".0%", dtick=0.5, gridcolor=palette.grid, zeroline=False)
    figure.update_yaxes(automargin=True)
    figure.update_xaxes(autotickangles=[0, -45, -90], tickfont={"size": 11}, automargin=True)
    figure.update_annotations(font={"size": 13, "color": palette.text})
    return figure.update_layout(
        height=85 + 150 * rows,
        margin={"l": 10, "r": 10, "t": 30, "b": 45},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"color": palette.text, "size": 12},
        showlegend=False,
        bargap=0.25,
        dragmode=False,
        transition={"duration": 200, "easing": "linear"},
    )


def _title(space: LabelSpace, label: int) -> str:
    return f"true label {_short(space.names[label])}" if label >= 0 else "true label unknown"


def _tick(name: str, is_candidate: bool, palette: Palette) -> str:
    return f"<b>{_short(name)}</b>" if is_candidate else f"<span style='color:{palette.muted}'>{_short(name)}</span>"


def _short(name: str) -> str:
    """A class name that fits under a bar and is no markup: `<` is how Plotly's tags begin."""
    plain = name.replace("&", "&amp;").replace("<", "&lt;")
    return plain if len(name) <= 12 else f"{plain[:11]}…"
