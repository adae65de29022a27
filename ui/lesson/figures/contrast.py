"""AUROC of the attention over all held-out bags, for every cut: learned from plain bags against composed bags."""

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go

from ui.frame.palette import Palette
from ui.lesson.recorded import Contrast, ContrastedModel

CHANCE, NEAR_CHANCE = 0.5, 0.1
ROW_HEIGHT = 58  # two dots, a number above and one below


def contrast_figure(rows: Mapping[str, Contrast], titles: Mapping[str, str], palette: Palette) -> go.Figure:
    """Dots: mean over the seeds; thick lines: lowest to highest seed; thin lines: the middle 80 % of all bags."""
    figure = go.Figure()
    names = list(rows)
    looks = {"plain": (palette.non_candidate, 0.13), "composed": (palette.chosen, -0.13)}
    for model, (colour, shift) in looks.items():
        found: list[ContrastedModel] = [getattr(row, model) for row in rows.values()]
        means = [float(np.mean(one.auroc)) for one in found]
        places = [position - shift for position in range(len(names))]
        for one, place in zip(found, places, strict=True):
            for low, high, width in ((one.deciles[1], one.deciles[9], 1.5), (min(one.auroc), max(one.auroc), 5)):
                figure.add_scatter(
                    x=[low, high], y=[place, place], mode="lines", line={"color": colour, "width": width},
                    hoverinfo="skip", showlegend=False,
                )  # fmt: skip
        figure.add_scatter(
            x=means,
            y=places,
            mode="markers+text",
            text=[f"{mean:.2f}" for mean in means],
            textposition=[f"{'top' if shift > 0 else 'bottom'} {_beside_chance(mean)}" for mean in means],
            textfont={"size": 11},
            marker={"color": colour, "size": 11, "line": {"color": palette.text, "width": 1}},
            name=titles[model],
            customdata=[[float(np.mean(one.accuracy_whole)), float(np.mean(one.accuracy))] for one in found],
            hovertemplate="AUROC %{x:.2f}; accuracy on plain bags %{customdata[0]:.2f}, on composed bags "
            "%{customdata[1]:.2f}<extra></extra>",
        )
    figure.add_vline(
        x=CHANCE,
        line={"color": palette.text, "dash": "dot"},
        annotation_text="chance",
        annotation_position="bottom left",
    )
    figure.update_xaxes(title="AUROC of the attention", range=[0, 1.03])
    figure.update_yaxes(
        tickvals=list(range(len(names))), ticktext=names, range=[len(names) - 0.4, -0.6], showgrid=False
    )
    return figure.update_layout(height=110 + ROW_HEIGHT * len(names), showlegend=True)


def _beside_chance(mean: float) -> str:
    """Where a number stands, so that the line of chance does not run through it on a phone."""
    if abs(mean - CHANCE) >= NEAR_CHANCE:
        return "center"
    return "left" if mean < CHANCE else "right"
