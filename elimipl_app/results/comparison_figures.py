"""Figures of the comparison: accuracies of methods, what they cost, and how they fare with more false positives."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from elimipl.benchmark.answers import row_name
from elimipl.benchmark.claims import PairedTest
from elimipl_app.shell.palette import Palette

_BARS = {"MIPL": "learns from bags", "PLL": "learns from bag features", "ours": "our change"}
MOST_LINES = 6
_COST_HEIGHT = 420


@dataclass(frozen=True)
class Row:
    """A method on one data set: accuracy by split, what the paper reports, what a split cost."""

    method: str
    kind: str
    """MIPL, PLL or ours."""
    accuracies: Mapping[int, float]
    paper: tuple[float, float] | None = None
    cost: float | None = None

    @property
    def mean(self) -> float:
        return float(np.mean(list(self.accuracies.values())))

    @property
    def std(self) -> float:
        """ddof 0, as the paper reports it."""
        return float(np.std(list(self.accuracies.values())))


def forest(tests: Sequence[PairedTest], palette: Palette) -> go.Figure:
    """Mean difference and 95 % interval, a row for each data set and r; rows without one are hollow."""
    figure = go.Figure()
    for known, symbol in ((True, "circle"), (False, "circle-open")):
        rows = [(place, test) for place, test in enumerate(tests) if (test.interval is not None) is known]
        intervals = [test.interval or (test.mean, test.mean) for _, test in rows]
        figure.add_scatter(
            x=[test.mean for _, test in rows],
            y=[place for place, _ in rows],
            mode="markers",
            name="mean difference, 95 % interval" if known else "one or two splits",
            marker={"color": palette.chosen, "symbol": symbol, "size": 10, "line": {"width": 2}},
            error_x={
                "array": [high - test.mean for (_, test), (_, high) in zip(rows, intervals, strict=True)],
                "thickness": 2,
                "width": 5 if known else 0,
            },
            customdata=[[row_name(test), test.n] for _, test in rows],
            hovertemplate="%{customdata[0]}: %{x:+.3f} over %{customdata[1]} splits<extra></extra>",
        )
    _add_strokes(figure, [(place, test.paper, row_name(test)) for place, test in enumerate(tests)], palette)
    names = [f"{row_name(test)} · {test.n} split{'s' if test.n > 1 else ''}" for test in tests]
    ends = [end for test in tests for end in (*(test.interval or ()), test.mean, test.paper or 0.0)]
    reach = max([0.05, *map(abs, ends)]) * 1.1
    figure.add_vline(x=0, line={"color": palette.muted, "width": 1})
    figure.update_xaxes(title="difference of accuracy", tickformat="+.2f", range=[-reach, reach])
    figure.update_yaxes(
        tickvals=list(range(len(tests))), ticktext=names, range=[len(tests) - 0.4, -0.6], showgrid=False
    )
    return figure.update_layout(height=110 + 21 * len(tests), showlegend=True)


def _add_strokes(
    figure: go.Figure, marks: Sequence[tuple[int, float | None, str]], palette: Palette, mark: str = "the paper"
) -> None:
    """The paper's numbers as grey upright strokes: place, number and what it is about."""
    known = [(place, number, about) for place, number, about in marks if number is not None]
    if known:
        figure.add_scatter(
            x=[number for _, number, _ in known],
            y=[place for place, _, _ in known],
            mode="markers",
            name=mark,
            marker={"symbol": "line-ns", "size": 13, "line": {"color": palette.muted, "width": 4}},
            customdata=[about for _, _, about in known],
            hovertemplate="%{customdata} in the paper: %{x:.3f}<extra></extra>",
        )


def accuracy_bars(rows: Sequence[Row], palette: Palette, mark: str) -> go.Figure:
    """Mean ± deviation of every method with its splits as points; `mark` is what the paper's numbers are called."""
    figure = go.Figure()
    positions = {row.method: position for position, row in enumerate(rows)}
    for kind, title in _BARS.items():
        members = [row for row in rows if row.kind == kind and row.accuracies]
        if members:
            figure.add_bar(
                x=[row.mean for row in members],
                y=[positions[row.method] for row in members],
                orientation="h",
                width=0.66,
                name=title,
                marker={"color": _colours(palette)[kind]},
                error_x={"array": [row.std for row in members], "color": palette.text, "thickness": 1.5, "width": 5},
                customdata=[[row.method, row.std, len(row.accuracies)] for row in members],
                hovertemplate="%{customdata[0]}: %{x:.3f} ± %{customdata[1]:.3f}, "
                "%{customdata[2]} splits<extra></extra>",
            )
    _add_points(figure, rows, positions, palette)
    papers = [(positions[row.method], None if row.paper is None else row.paper[0], row.method) for row in rows]
    _add_strokes(figure, papers, palette, mark)
    names = [row.method if row.accuracies else f"{row.method} (not run)" for row in rows]
    figure.update_xaxes(title="accuracy", range=[0, 1.02])
    figure.update_yaxes(
        tickvals=list(positions.values()), ticktext=names, range=[len(rows) - 0.4, -0.6], showgrid=False
    )
    return figure.update_layout(height=120 + 34 * len(rows), barmode="overlay", showlegend=True)


def _add_points(figure: go.Figure, rows: Sequence[Row], positions: Mapping[str, int], palette: Palette) -> None:
    points = [(row.method, split, accuracy) for row in rows for split, accuracy in row.accuracies.items()]
    figure.add_scatter(
        x=[accuracy for _, _, accuracy in points],
        y=[positions[method] + (split % 10 - 4.5) / 18 for method, split, _ in points],  # one below the other
        mode="markers",
        name="one split",
        marker={"color": palette.text, "size": 4, "opacity": 0.55},
        customdata=[[method, split] for method, split, _ in points],
        hovertemplate="%{customdata[0]}, split %{customdata[1]}: %{x:.3f}<extra></extra>",
    )


def cost_scatter(rows: Sequence[Row], palette: Palette, axis: str) -> go.Figure:
    """Accuracy over what a split costs, on a logarithmic axis called `axis`; rows without a cost are left out."""
    figure = go.Figure()
    known = [row for row in rows if row.accuracies and row.cost]
    for kind, title in _BARS.items():
        members = [row for row in known if row.kind == kind]
        if members:
            figure.add_scatter(
                x=[row.cost for row in members],
                y=[row.mean for row in members],
                mode="markers",
                name=title,
                text=[row.method for row in members],
                marker={"color": _colours(palette)[kind], "size": 11, "line": {"color": palette.text, "width": 1}},
                error_y={"array": [row.std for row in members], "color": palette.muted, "thickness": 1, "width": 3},
                hovertemplate="%{text}: accuracy %{y:.3f}, %{x:.3s} " + axis + "<extra></extra>",
            )
    figure.update_xaxes(title=axis, type="log", dtick=1)
    figure.update_yaxes(title="accuracy")
    if known:
        _add_names(figure, known, palette)
    return figure.update_layout(height=_COST_HEIGHT, showlegend=True)


def _add_names(figure: go.Figure, rows: Sequence[Row], palette: Palette) -> None:
    """The name of every method right of its point, moved up or down so that no two names overlap."""
    means, deviations = np.array([row.mean for row in rows]), np.array([row.std for row in rows])
    low, high = float((means - deviations).min()) - 0.03, float((means + deviations).max()) + 0.03
    pixel = (high - low) / (_COST_HEIGHT - 110)  # axis and legend take the rest
    names = kept_apart(means / pixel, 15.0) * pixel
    for row, position in zip(rows, names, strict=True):
        figure.add_annotation(
            x=np.log10(row.cost or 1.0),
            y=row.mean,
            text=row.method,
            ax=24,
            ay=(row.mean - position) / pixel,
            xanchor="left",
            font={"size": 11},
            arrowhead=0,
            arrowwidth=1,
            arrowcolor=palette.muted,
            standoff=5,
        )
    costs = np.log10([row.cost or 1.0 for row in rows])
    figure.update_xaxes(range=[float(costs.min()) - 0.3, float(costs.max()) + 0.9])
    figure.update_yaxes(range=[low, high])


def kept_apart(positions: np.ndarray, gap: float) -> np.ndarray:
    """The places moved apart as little as needed, in their order, so that neighbours are at least `gap` apart.

    >>> kept_apart(np.array([0.0, 1.0, 50.0]), 10.0)
    array([-4.5,  5.5, 50. ])
    """
    order = np.argsort(positions, kind="stable")
    groups: list[tuple[float, int]] = []  # middle and size of names that touch each other
    for position in positions[order]:
        groups.append((float(position), 1))
        while len(groups) > 1 and groups[-1][0] - groups[-2][0] < gap * (groups[-1][1] + groups[-2][1]) / 2:
            (second, many), (first, few) = groups.pop(), groups.pop()
            groups.append(((first * few + second * many) / (few + many), few + many))
    moved = np.empty(len(positions))
    moved[order] = np.concatenate([middle + gap * (np.arange(size) - (size - 1) / 2) for middle, size in groups])
    return moved


def curves_over_r(curves: Mapping[str, Mapping[int, Row]], palette: Palette) -> go.Figure:
    """The paper's Figure 4: mean ± deviation of at most six methods over r, the paper's numbers as open marks."""
    figure = go.Figure()
    colours = line_colours(curves, palette)
    for method, rows in curves.items():
        colour = colours[method]
        ran = {r: row for r, row in rows.items() if row.accuracies}
        figure.add_scatter(
            x=list(ran),
            y=[row.mean for row in ran.values()],
            mode="lines+markers",
            name=method,
            line={"color": colour, "width": 2.5},
            marker={"size": 8},
            error_y={"array": [row.std for row in ran.values()], "color": colour, "thickness": 1.2, "width": 4},
            hovertemplate=method + ", r = %{x}: %{y:.3f}<extra></extra>",
        )
        papers = {r: row.paper[0] for r, row in rows.items() if row.paper is not None}
        if papers:
            first = not any(trace.legendgroup == "paper" for trace in figure.data)
            figure.add_scatter(
                x=list(papers),
                y=list(papers.values()),
                mode="markers",
                name="the paper",
                legendgroup="paper",
                legendrank=2000,  # last
                showlegend=first,
                marker={"symbol": "diamond-open", "size": 12, "color": colour, "line": {"width": 2}},
                hovertemplate=method + " in the paper, r = %{x}: %{y:.3f}<extra></extra>",
            )
    highest = max((r for rows in curves.values() for r in rows), default=1)
    figure.update_xaxes(title="false positive labels r", dtick=1, range=[0.6, highest + 0.4])
    figure.update_yaxes(title="accuracy", range=[0, 1.02])
    return figure.update_layout(height=430, showlegend=True)


def line_colours(methods: Iterable[str], palette: Palette) -> dict[str, str]:
    """A colour for each of at most `MOST_LINES` methods; ELIMIPL and DEMIPL always have theirs."""
    own = {"ELIMIPL": palette.candidate, "DEMIPL": palette.negative}
    names = list(methods)
    free = [palette.true, palette.chosen, palette.muted, palette.positive]
    free += [colour for method, colour in own.items() if method not in names]
    others = [method for method in names if method not in own]
    return {method: own.get(method) or free[others.index(method)] for method in names}


def _colours(palette: Palette) -> dict[str, str]:
    return {"MIPL": palette.candidate, "PLL": palette.non_candidate, "ours": palette.true}
