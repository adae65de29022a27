"""Bars: every class, the three bars of the paper's Figure 2, attention over instance index as in its Figure 5."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from elimipl.candidates.labels import LabelSpace
from elimipl_app.charts.drawing import Drawing, plain
from elimipl_app.shell.palette import Palette

ROW = 25  # screen px of a bar with its gap
MANY, CLOSE = 10, 23  # bars of more classes stand closer, so that a phone shows all of them on its second screen
LONGEST_LINE = 30  # characters beside a bar
PALE = 0.35  # opacity of the bars of an answer that is not given


@dataclass(frozen=True, eq=False)
class BarGroup:
    """Bars of one colour: what they are called, and whose they are, (k,) bool."""

    title: str
    members: np.ndarray
    colour: str


def class_bars(
    probabilities: np.ndarray,
    labels: LabelSpace,
    groups: Sequence[BarGroup],
    palette: Palette,
    true_index: int | None = None,
    before: np.ndarray | None = None,
    grey: bool = False,
    words: Sequence[str] = (),
) -> go.Figure:
    """One bar per class, coloured by its group; the true label is outlined, `before` is a ghost.

    probabilities, before: (k,). Bars of an answer that is not given are `grey`: pale, but to be seen.
    `words` spell the classes out beside their bars; without them their titles stand there.
    """
    drawing = Drawing()
    names = [plain(title) for title in labels.titles]
    pale = PALE if grey else 1.0
    if before is not None:
        drawing.add_bar(
            x=before,
            y=names,
            orientation="h",
            name="before",
            marker={"color": "rgba(0,0,0,0)", "line": {"color": palette.muted, "width": 1.5}},
            hovertemplate="%{y} before: %{x:.1%}<extra></extra>",
        )
    for group in groups:
        chosen = np.flatnonzero(group.members)
        outlined = [palette.text if index == true_index else group.colour for index in chosen]
        drawing.add_bar(
            x=probabilities[chosen],
            y=[names[index] for index in chosen],
            orientation="h",
            name=group.title,
            customdata=chosen,
            marker={"color": group.colour, "opacity": pale, "line": {"color": outlined, "width": 3}},
            selected={"marker": {"opacity": pale}},
            unselected={"marker": {"opacity": pale}},
            text=[_percent(probabilities[index], index == true_index) for index in chosen],
            textposition="outside",
            cliponaxis=False,
            hovertemplate="%{y} (" + group.title + "): %{x:.1%}<extra></extra>",
        )
    drawing.update_layout(barmode="overlay", bargap=0.3)
    drawing.update_yaxes(categoryorder="array", categoryarray=names[::-1])
    if words:
        drawing.update_yaxes(tickvals=names, ticktext=[_in_lines(text) for text in words], tickfont={"size": 12})
    return _on_percent_scale(drawing, height=bars_height(len(names)))


def bars_height(classes: int) -> int:
    """Screen px that the bars of so many classes take."""
    return 52 + (ROW if classes <= MANY else CLOSE) * classes


def three_bars(
    probabilities: np.ndarray,
    candidates: np.ndarray,
    palette: Palette,
    true_index: int | None = None,
    grey: bool = False,
) -> go.Figure:
    """The paper's Figure 2: probability of the true label, average over candidates, average over non-candidates."""
    rows = [
        ("average candidate", _mean(probabilities[candidates]), palette.candidate),
        ("average non-candidate", _mean(probabilities[~candidates]), palette.non_candidate),
    ]
    if true_index is not None:
        rows.insert(0, ("true label", float(probabilities[true_index]), palette.true))
    drawing = Drawing()
    drawing.add_bar(
        x=[value for _, value, _ in rows],
        y=[name for name, _, _ in rows],
        orientation="h",
        marker={"color": [colour for _, _, colour in rows], "opacity": PALE if grey else 1.0},
        text=[f"{value:.1%}" for _, value, _ in rows],
        textposition="outside",
        cliponaxis=False,
        hovertemplate="%{y}: %{x:.2%}<extra></extra>",
        showlegend=False,
    )
    drawing.update_layout(bargap=0.3)
    drawing.update_yaxes(categoryorder="array", categoryarray=[name for name, _, _ in rows][::-1])
    return _on_percent_scale(drawing, height=24 + ROW * len(rows))


def outside_mass(probabilities: np.ndarray, candidates: np.ndarray) -> float:
    """Probability the model gives to labels that the candidate set rules out."""
    return float(probabilities[~candidates].sum())


def _in_lines(text: str) -> str:
    return "<br>".join(plain(line) for line in textwrap.wrap(text, LONGEST_LINE))


def _percent(probability: float, is_true: bool) -> str:
    return f"{probability:.1%}" + (" ◀ true" if is_true else "")


def _mean(values: np.ndarray) -> float:
    return float(values.mean()) if len(values) else 0.0


def _on_percent_scale(drawing: Drawing, height: int) -> go.Figure:
    drawing.update_xaxes(range=[0, 1.42], tickformat=".0%", tickvals=[0, 0.25, 0.5, 0.75, 1])
    drawing.update_yaxes(showgrid=False)
    return drawing.update_layout(height=height, margin={"b": 25}).figure()


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
