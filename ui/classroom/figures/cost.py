"""What the doubt cost: accuracy after learning from true labels, from the class, from three students, from nothing."""

import plotly.graph_objects as go

from ui.classroom import texts
from ui.classroom.outcome import METHODS, Outcome
from ui.frame.palette import Palette

NUMBERS_AT, RIGHT_END = 1.03, 1.22  # the column of numbers beyond 100 %, free of bars at any width


def cost_bars(outcome: Outcome, of: str, palette: Palette) -> go.Figure:
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
