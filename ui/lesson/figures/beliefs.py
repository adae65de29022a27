"""Disambiguation weights over the epochs, and accuracy over the number of false positives (Figure 4)."""

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from ui.frame.palette import Palette
from ui.lesson.figures.descent import DASHES, LINES_HEIGHT


def belief_paths(
    weights: np.ndarray, epoch: int, names: Sequence[str], candidates: np.ndarray, true_index: int, palette: Palette
) -> go.Figure:
    """Weights (T + 1, k) of the candidates of one bag up to `epoch`; the true label in its own colour."""
    figure = go.Figure()
    for number, index in enumerate(np.flatnonzero(candidates).tolist()):
        true = index == true_index
        figure.add_scatter(
            x=list(range(epoch + 1)),
            y=weights[: epoch + 1, index],
            mode="lines+markers" if epoch == 0 else "lines",
            line={
                "color": palette.true if true else palette.candidate,
                "width": 4 if true else 2.5,
                "dash": "solid" if true else DASHES[1 + number % 3],
            },
            name=f"{names[index]} (true)" if true else str(names[index]),
            hovertemplate=f"{names[index]}, epoch %{{x}}: %{{y:.1%}}<extra></extra>",
        )
    figure.update_xaxes(title="epoch", range=[0, len(weights) - 1])
    figure.update_yaxes(title="belief w", range=[0, 1.02], tickformat=".0%")
    return figure.update_layout(height=LINES_HEIGHT)


def accuracy_by_ambiguity(
    r: Sequence[int],
    accuracy: Mapping[str, Sequence[Sequence[float]]],
    chance: float,
    palette: Palette,
    guess: float | None = None,
    shown: bool = True,
) -> go.Figure:
    """Figure 4: mean held-out accuracy over r with one standard deviation; the learner's guess is a star."""
    figure = go.Figure()
    colours = (palette.true, palette.candidate, palette.non_candidate)
    symbols = ("circle", "square", "diamond")
    for (name, values), colour, symbol in zip(accuracy.items(), colours, symbols, strict=True):
        means = [float(np.mean(seeds)) for seeds in values]
        figure.add_scatter(
            x=list(r) if shown else list(r)[:1],
            y=means if shown else means[:1],
            error_y={"type": "data", "array": [float(np.std(seeds)) for seeds in values], "thickness": 1.2},
            mode="lines+markers",
            line={"color": colour, "width": 3},
            marker={"symbol": symbol, "size": 10},
            name=name,
            hovertemplate=name + ", r = %{x}: %{y:.1%}<extra></extra>",
        )
    if guess is not None:
        figure.add_scatter(
            x=[r[-1]], y=[guess], mode="markers", name="your guess",
            marker={"symbol": "star", "size": 18, "color": palette.chosen, "line": {"color": palette.text, "width": 1}},
            hovertemplate="your guess: %{y:.0%}<extra></extra>",
        )  # fmt: skip
    figure.add_hline(
        y=chance,
        line={"color": palette.muted, "dash": "dot"},
        annotation={"text": "chance", "font": {"color": palette.muted}},
    )
    figure.update_xaxes(title="false positive labels r", range=[-0.2, max(r) + 0.2], dtick=1)
    figure.update_yaxes(title="held-out accuracy", range=[0, 1.05], tickformat=".0%")
    return figure.update_layout(height=380)
