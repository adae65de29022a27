"""How much does the crowd cost? Accuracy on the paper's own tissue by how often the candidates miss the truth."""

import plotly.graph_objects as go
import streamlit as st

from elimipl.benchmark.crowd import SHARES, CrowdCurve, crowd_curves, crowd_sentence
from elimipl_app.results.comparison_figures import line_colours
from elimipl_app.shell import charts
from elimipl_app.shell.palette import Palette, current_palette

METHODS = ("ELIMIPL", "DEMIPL", "PRODEN-Mean", "PL-AGGD-Mean", "LWS-Mean", "RC-Mean")
ABOUT = (
    "CRC-MIPL rebuilt from the tiles of NCT-CRC-HE-100K (7,000 bags, 7:3 by tile, one split, three simulated "
    "annotators, 2.08 labels a bag; networks train 60 epochs here, 100 or 200 in the tables). To the right the true "
    "label was taken out of ever more candidate sets, a random one put in its place. Diamonds: where the paper's "
    "number lies on the curve. Every method and every other factor: benchmarks/results/findings.md."
)


def show_crowd() -> None:
    """The curves of some methods, and the sentence that all of them support."""
    curves = crowd_curves()
    if not curves:
        return
    st.subheader("How much does the crowd cost?", divider="gray")
    st.markdown(crowd_sentence(curves))
    data = sorted({curve.data for curve in curves})
    for place, name in zip(st.columns(len(data)), data, strict=True):
        with place:
            shown = [curve for curve in curves if curve.data == name and curve.method in METHODS]
            alt = f"Accuracy on {name} by the share of bags whose candidates miss the truth"
            charts.show(crowd_figure(shown, name, current_palette()), f"crowd-{name}", alt)
    st.caption(ABOUT)


def crowd_figure(curves: list[CrowdCurve], title: str, palette: Palette) -> go.Figure:
    """At most six lines; a diamond on a line is the paper's number for that method."""
    colours = line_colours(METHODS, palette)
    figure = go.Figure()
    for curve in curves:
        colour = colours[curve.method]
        figure.add_scatter(
            x=SHARES, y=curve.accuracy, name=curve.method, mode="lines+markers", line={"color": colour},
            hovertemplate=f"{curve.method}: %{{y:.3f}} with %{{x:.0%}} missed<extra></extra>",
        )  # fmt: skip
        if curve.meets is not None:
            figure.add_scatter(
                x=[curve.meets], y=[curve.paper], mode="markers", showlegend=False,
                marker={"symbol": "diamond-open", "size": 13, "color": colour, "line": {"width": 3}},
                hovertemplate=f"{curve.method} in the paper: %{{y:.3f}}<extra></extra>",
            )  # fmt: skip
    figure.update_xaxes(title="training bags whose candidates miss the truth", tickformat=".0%")
    figure.update_yaxes(title="accuracy", range=[0, 0.75])
    return figure.update_layout(title=title, height=360, showlegend=True)
