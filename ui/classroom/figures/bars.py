"""Votes as bars: of one picture, and how many have answered each."""

import textwrap
from collections.abc import Sequence

import plotly.graph_objects as go

from ui.classroom import texts
from ui.figures.plain_text import plain
from ui.frame.palette import Palette

LONGEST_LINE = 18  # characters beside a bar
MOST_NUMBERS = 16  # below the bars; on a phone more would touch


def vote_bars(
    named: Sequence[int], first: Sequence[int], answers: int, labels: Sequence[str], palette: Palette, truth: int = -1
) -> go.Figure:
    """How many find each label possible and most likely, and the two thirds that make it a candidate."""
    ticks = [f"{_in_lines(label)}{' ✓' if number == truth else ''}" for number, label in enumerate(labels)]
    rows = list(range(len(labels)))
    figure = go.Figure()
    for name, counts, colour, width in (
        (texts.NAMED_TRACE, named, palette.candidate, 0.75),
        (texts.FIRST_TRACE, first, palette.chosen, 0.4),
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
            x=2 * answers / 3, y=1, yref="paper", yanchor="bottom", showarrow=False, text=texts.TWO_THIRDS,
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
    figure.update_xaxes(type="category", nticks=MOST_NUMBERS, title=texts.PICTURE_LABEL, fixedrange=True)
    figure.update_yaxes(range=[0, max(students, 3)], fixedrange=True)
    return figure.update_layout(height=220)
