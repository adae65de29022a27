"""What the doubt cost: accuracy after learning from true labels, from the class, from three students, from nothing."""

import plotly.graph_objects as go

from ui.classroom import texts
from ui.classroom.outcome import METHODS, Outcome
from ui.frame.palette import Palette


def cost_bars(outcome: Outcome, of: str, palette: Palette) -> go.Figure:
    """Means over the seeds as bars, every seed as a point; `of` is a field of `Fit`."""
    figure = go.Figure()
    colours = dict(zip(METHODS, (palette.chosen, palette.non_candidate), strict=True))
    for number, method in enumerate(METHODS):
        fits = [fit for fit in outcome.fits if fit.method == method and getattr(fit, of)]
        means = [sum(getattr(fit, of)) / len(getattr(fit, of)) for fit in fits]
        figure.add_bar(
            x=[texts.ARM_TITLES[fit.arm] for fit in fits],
            y=means,
            name=method.upper(),
            offsetgroup=number,
            marker={"color": colours[method]},
            text=[f"{mean:.0%}" for mean in means],
            textposition="inside",
            insidetextanchor="start",
            textangle=0,
            constraintext="none",
            hovertemplate="%{x}: %{y:.1%}<extra>" + method.upper() + "</extra>",
        )
        points = [(texts.ARM_TITLES[fit.arm], value) for fit in fits for value in getattr(fit, of)]
        figure.add_scatter(
            x=[title for title, _ in points],
            y=[value for _, value in points],
            mode="markers",
            offsetgroup=number,
            marker={"color": palette.text, "size": 6, "symbol": "line-ew-open"},
            showlegend=False,
            hoverinfo="skip",
        )
    figure.update_yaxes(range=[0, 1.02], tickformat=".0%", fixedrange=True)
    figure.update_xaxes(fixedrange=True, showgrid=False)
    return figure.update_layout(height=320, barmode="group", scattermode="group", margin={"t": 40})
