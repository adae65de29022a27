"""Who is taken for whom: labels that the class finds possible, by the true label."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from ui.figures.plain_text import plain
from ui.frame.palette import Palette


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
