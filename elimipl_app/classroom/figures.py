"""What the class's answers look like: votes as bars, who is taken for whom, and what the doubt cost."""

import textwrap
from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from elimipl.classroom.outcome import METHODS, ClassOutcome
from elimipl_app.charts.drawing import plain
from elimipl_app.classroom import texts
from elimipl_app.shell.palette import Palette

LONGEST_LINE = 18  # characters beside a bar
MOST_NUMBERS = 16  # below the bars; on a phone more would touch
NUMBERS_AT, RIGHT_END = 1.03, 1.22  # the column of numbers beyond 100 %, free of bars at any width


def vote_bars(
    named: Sequence[int], first: Sequence[int], answers: int, labels: Sequence[str], palette: Palette, truth: int = -1
) -> go.Figure:
    """How many find each label possible and most likely, and the two thirds that make it a candidate."""
    ticks = [f"{_in_lines(label)}{' ✓' if number == truth else ''}" for number, label in enumerate(labels)]
    rows = list(range(len(labels)))
    figure = go.Figure()
    for name, counts, colour, width in (
        ("possible", named, palette.candidate, 0.75),
        ("most likely", first, palette.chosen, 0.4),
    ):
        figure.add_bar(
            y=rows,
            x=list(counts),
            orientation="h",
            name=name,
            marker={"color": colour},
            width=width,
            hovertemplate="%{x} of " + str(answers) + "<extra>" + name + "</extra>",
        )
    if answers:
        figure.add_vline(x=2 * answers / 3, line={"dash": "dot", "color": palette.muted})
        figure.add_annotation(
            x=2 * answers / 3, y=1, yref="paper", yanchor="bottom", showarrow=False, text="two thirds",
            font={"color": palette.muted, "size": 12},
        )  # fmt: skip
    figure.update_xaxes(range=[0, max(answers, 3)], dtick=max(1, answers // 6), fixedrange=True)
    figure.update_yaxes(
        tickvals=rows, ticktext=ticks, autorange="reversed", showgrid=False, fixedrange=True, ticklabelstandoff=4
    )
    return figure.update_layout(
        barmode="overlay", height=90 + 40 * len(labels), margin={"t": 50}, legend={"y": 1.08, "yanchor": "bottom"}
    )


def _in_lines(label: str) -> str:
    """A long label in short lines, so that the bars keep most of a phone's width."""
    return "<br>".join(plain(line) for line in textwrap.wrap(label, LONGEST_LINE) or [label])


def answer_bars(answers: Sequence[int], students: int, palette: Palette) -> go.Figure:
    """How many have answered each picture."""
    numbers = list(range(1, len(answers) + 1))
    figure = go.Figure(
        go.Bar(x=numbers, y=list(answers), marker={"color": palette.non_candidate}, hovertemplate="%{y}<extra></extra>")
    )
    figure.update_xaxes(type="category", nticks=MOST_NUMBERS, title="Picture", fixedrange=True)
    figure.update_yaxes(range=[0, max(students, 3)], fixedrange=True)
    return figure.update_layout(height=220)


def confusion_map(
    shares: np.ndarray, names: Sequence[str], palette: Palette, codes: Sequence[str] | None = None
) -> go.Figure:
    """Shares of answers, (k, k); rows that are NaN, of labels nobody saw a picture of, are left out.

    `codes` stand above the columns, where names have no room.
    """
    rows = [row for row in range(len(names)) if not np.isnan(shares[row]).any()]
    shown = shares[rows]
    ticks = [plain(name) for name in names]
    figure = go.Figure(
        go.Heatmap(
            z=shown,
            zmin=0,
            zmax=1,
            xgap=3,
            ygap=3,
            colorscale=[[0, palette.grid], [1, palette.candidate]],
            text=[[f"{share:.0%}" if share else "" for share in row] for row in shown],
            texttemplate="%{text}",
            textfont={"size": 13},
            showscale=False,
            hovertemplate="true %{y}, found possible %{x}: %{z:.0%}<extra></extra>",
            x=list(range(len(names))),
            y=list(range(len(rows))),
        )
    )
    figure.update_xaxes(
        tickvals=list(range(len(names))), ticktext=[plain(code) for code in codes or names], side="top", showgrid=False
    )
    figure.update_yaxes(
        tickvals=list(range(len(rows))),
        ticktext=[ticks[row] for row in rows],
        autorange="reversed",
        showgrid=False,
        ticklabelstandoff=4,
    )
    return figure.update_layout(height=70 + 38 * max(len(rows), 2), margin={"t": 40, "b": 10})


def cost_bars(outcome: ClassOutcome, of: str, palette: Palette) -> go.Figure:
    """Means over the seeds as bars with their numbers at the right, every seed as a line; `of` is a field of `Fit`."""
    figure = go.Figure()
    colours = dict(zip(METHODS, (palette.chosen, palette.non_candidate), strict=True))
    for number, method in enumerate(METHODS):
        fits = [fit for fit in outcome.fits if fit.method == method and getattr(fit, of)]
        means = [sum(getattr(fit, of)) / len(getattr(fit, of)) for fit in fits]
        titles = [texts.ARM_TITLES[fit.arm] for fit in fits]
        place = {"orientation": "h", "offsetgroup": number}
        figure.add_bar(
            x=means,
            y=titles,
            name=method.upper(),
            marker={"color": colours[method]},
            hovertemplate="%{y}: %{x:.1%}<extra>" + method.upper() + "</extra>",
            **place,
        )
        points = [(texts.ARM_TITLES[fit.arm], value) for fit in fits for value in getattr(fit, of)]
        figure.add_scatter(
            x=[value for _, value in points],
            y=[title for title, _ in points],
            mode="markers",
            marker={"color": palette.text, "size": 6, "symbol": "line-ns-open"},
            showlegend=False,
            hoverinfo="skip",
            **place,
        )
        figure.add_scatter(
            x=[NUMBERS_AT] * len(fits),
            y=titles,
            mode="text",
            text=[f"{mean:.0%}" for mean in means],
            textposition="middle right",
            showlegend=False,
            hoverinfo="skip",
            **place,
        )
    shares = [0, 0.25, 0.5, 0.75, 1]
    figure.update_xaxes(range=[0, RIGHT_END], tickvals=shares, tickformat=".0%", fixedrange=True)
    figure.update_yaxes(autorange="reversed", fixedrange=True, showgrid=False, ticklabelstandoff=4)
    return figure.update_layout(height=340, barmode="group", scattermode="group", margin={"t": 40})
