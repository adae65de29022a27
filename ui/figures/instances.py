"""Attention over instance index, as in the paper's Figure 5, and the histogram of the scores."""

import numpy as np
import plotly.graph_objects as go

from ui.figures.drawing import Drawing
from ui.frame.palette import Palette

HEIGHT = 250
MOST_BARS = 512  # instances; more of them are one line


def instance_bars(
    scores: np.ndarray, palette: Palette, title: str, truth: np.ndarray | None = None, even_share: bool = False
) -> go.Figure:
    """One bar per instance: positives red and negatives steelblue where the truth of the instances is known.

    `even_share` marks what every instance would get if the scores, which sum to 1, were all the same.
    """
    drawing = Drawing()
    if len(scores) > MOST_BARS:
        return _in_order(drawing, scores, palette, title, even_share)
    index = np.arange(len(scores))
    groups: tuple[tuple[str, np.ndarray, str], ...]
    if truth is None:
        groups = (("instances", np.ones(len(scores), dtype=bool), palette.non_candidate),)
    else:
        groups = (("carries the class", truth, palette.positive), ("does not", ~truth, palette.negative))
    for name, members, colour in groups:
        drawing.add_bar(
            x=index[members],
            y=scores[members],
            width=0.75,  # else a bar is as wide as the gaps between the instances of its group
            name=name,
            marker={"color": colour},
            customdata=index[members],
            hovertemplate="instance %{x}: %{y:.4f}<extra></extra>",
            showlegend=truth is not None,
        )
    if even_share:
        _add_even_share(drawing, scores, palette)
    reach = [-0.6, len(scores) - 0.4]
    drawing.update_xaxes(
        title={"text": "instance"}, range=reach, dtick=1 if len(scores) <= 12 else 5 if len(scores) <= 60 else None
    )
    drawing.update_yaxes(title={"text": title}, rangemode="tozero", zeroline=True)
    return drawing.update_layout(height=HEIGHT, bargap=0.25, barmode="overlay").figure()


def _in_order(drawing: Drawing, scores: np.ndarray, palette: Palette, title: str, even_share: bool) -> go.Figure:
    """Scores of very many instances as one line, from the highest to the lowest."""
    places = np.unique(np.linspace(0, len(scores) - 1, MOST_BARS).round().astype(int))
    drawing.add_scatter(
        x=places + 1,
        y=np.sort(scores)[::-1][places],
        mode="lines",
        line={"color": palette.non_candidate, "width": 2},
        hovertemplate="rank %{x}: %{y:.4g}<extra></extra>",
        showlegend=False,
    )
    if even_share:
        _add_even_share(drawing, scores, palette)
    drawing.update_xaxes(title={"text": "instances, from the highest to the lowest"})
    drawing.update_yaxes(title={"text": title}, rangemode="tozero", zeroline=True)
    return drawing.update_layout(height=HEIGHT).figure()


def _add_even_share(drawing: Drawing, scores: np.ndarray, palette: Palette) -> None:
    line = {"color": palette.muted, "dash": "dot", "width": 1}
    drawing.add_shape(type="line", xref="x domain", x0=0, x1=1, y0=1 / len(scores), y1=1 / len(scores), line=line)


def score_histogram(scores: np.ndarray, palette: Palette, title: str) -> go.Figure:
    """How the scores are spread: a flat map is told from a peaked one at a glance."""
    counts, edges = np.histogram(scores, bins=min(12, max(3, len(scores))))
    drawing = Drawing()
    drawing.add_bar(
        x=(edges[:-1] + edges[1:]) / 2,
        y=counts,
        width=np.diff(edges),
        marker={"color": palette.non_candidate, "line": {"color": palette.grid, "width": 1}},
        hovertemplate="%{y} instances near %{x:.4f}<extra></extra>",
    )
    drawing.update_xaxes(title={"text": title})
    drawing.update_yaxes(title={"text": "instances"}, dtick=max(1, int(counts.max()) // 4))
    return drawing.update_layout(height=HEIGHT).figure()
