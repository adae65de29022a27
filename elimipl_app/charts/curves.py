"""Learning curves: the parts of the loss and the accuracies over the epochs."""

from collections.abc import Sequence

import plotly.graph_objects as go

from elimipl.training.reports import EpochReport
from elimipl_app.shell.palette import Palette

LOSS_TITLES = {
    "mapping": "mapping",
    "sparsity": "sparsity",
    "inhibition": "inhibition",
    "attention": "attention entropy",
    "total": "total",
}
ACCURACY_TITLES = {
    "train_accuracy": "training bags",
    "held_out_accuracy": "held-out bags",
    "disambiguation_accuracy": "true label found",
}
DASHES = {"total": "solid", "mapping": "dash", "sparsity": "dot", "inhibition": "dashdot", "attention": "longdash"}


def loss_curves(reports: Sequence[EpochReport], epochs: int, palette: Palette) -> go.Figure:
    """The parts of eq. 9 without their weights μ and γ, and the total with them. Parts that stay zero are left out."""
    colours = {
        "total": palette.text,
        "mapping": palette.true,
        "sparsity": palette.candidate,
        "inhibition": palette.non_candidate,
        "attention": palette.chosen,
    }
    figure = go.Figure()
    for name, title in LOSS_TITLES.items():
        values = [report.losses.get(name, 0.0) for report in reports]
        if any(values):
            _add_curve(figure, reports, values, title, colours[name], DASHES[name], "%{y:.4f}")
    figure.update_yaxes(title="loss", rangemode="tozero")
    return _over_epochs(figure, epochs)


def accuracy_curves(reports: Sequence[EpochReport], epochs: int, palette: Palette) -> go.Figure:
    """Share of bags classified rightly, and of training bags whose heaviest candidate is the true label."""
    looks = {
        "train_accuracy": (palette.non_candidate, "dash"),
        "held_out_accuracy": (palette.chosen, "solid"),
        "disambiguation_accuracy": (palette.true, "dot"),
    }
    figure = go.Figure()
    for name, title in ACCURACY_TITLES.items():
        values = [getattr(report, name) for report in reports]
        if values and values[0] is not None:
            colour, dash = looks[name]
            _add_curve(figure, reports, values, title, colour, dash, "%{y:.1%}")
    figure.update_yaxes(title="accuracy", range=[0, 1.03], tickformat=".0%")
    return _over_epochs(figure, epochs)


def _add_curve(
    figure: go.Figure,
    reports: Sequence[EpochReport],
    values: Sequence[float],
    title: str,
    colour: str,
    dash: str,
    shown: str,
) -> None:
    figure.add_scatter(
        x=[report.epoch for report in reports],
        y=list(values),
        mode="lines+markers" if len(reports) == 1 else "lines",
        name=title,
        line={"color": colour, "dash": dash, "width": 2.5},
        hovertemplate=f"{title} {shown}<extra></extra>",
    )


def _over_epochs(figure: go.Figure, epochs: int) -> go.Figure:
    figure.update_xaxes(title="epoch", range=[0, epochs + 0.5])
    return figure.update_layout(height=320, hovermode="x unified", showlegend=True)
