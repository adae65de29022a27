"""The disambiguation weights of a few bags: how much training believes in each candidate label."""

from typing import Any

import numpy as np
import plotly.graph_objects as go

from elimipl.labels import LabelSpace
from ui.figures.drawing import plain
from ui.frame.palette import Palette

COLUMNS = 3
LONGEST, LONGEST_TITLE = 12, 28  # characters under a bar, above a panel


def weight_bars(
    weights: np.ndarray, candidates: np.ndarray, true_labels: np.ndarray, space: LabelSpace, palette: Palette
) -> go.Figure:
    """One small panel a bag, one bar a class; non-candidates have no weight and a name in grey.

    The panels are laid out by hand: this figure is drawn several times a second, and Plotly's own subplots take
    ten times as long. weights: (b, k), rows sum to 1; candidates: (b, k) bool; true_labels: (b,), −1 = unknown
    """
    rows = -(-len(weights) // COLUMNS)
    data, axes, titles = [], {}, []
    for number, (share, members, label) in enumerate(zip(weights, candidates, true_labels, strict=True)):
        row, column = divmod(number, COLUMNS)
        across = _domain(column, COLUMNS, gap=0.06)
        upwards = _domain(rows - 1 - row, rows, gap=0.3)
        ending = "" if number == 0 else str(number + 1)
        axes[f"xaxis{ending}"] = _class_axis(space, members, across, f"y{ending}", palette)
        axes[f"yaxis{ending}"] = _share_axis(upwards, f"x{ending}", column == 0)
        data.append(
            {
                "type": "bar",
                "x": list(range(len(share))),
                "y": share.tolist(),
                "xaxis": f"x{ending}",
                "yaxis": f"y{ending}",
                "marker": {"color": [palette.true if c == label else palette.candidate for c in range(len(share))]},
                "customdata": [plain(name) for name in space.titles],
                "hovertemplate": "%{customdata}: %{y:.1%}<extra></extra>",
            }
        )
        titles.append(
            {
                "text": _title(space, label),
                "x": sum(across) / 2,
                "y": upwards[1],
                "xref": "paper",
                "yref": "paper",
                "xanchor": "center",
                "yanchor": "bottom",
                "showarrow": False,
                "font": {"size": 13},
            }
        )
    layout = {
        "height": 85 + 150 * rows,
        "margin": {"l": 45, "r": 10, "t": 30, "b": 45},
        "font": {"size": 12},
        "showlegend": False,
        "bargap": 0.25,
        "annotations": titles,
        **axes,
    }
    return go.Figure({"data": data, "layout": layout})


def _domain(index: int, count: int, gap: float) -> list[float]:
    """Start and end of one of `places` panels between 0 and 1; the gap is a share of a panel and its gap."""
    size = 1 / (count - gap)
    return [index * size, index * size + size * (1 - gap)]


def _class_axis(
    space: LabelSpace, members: np.ndarray, domain: list[float], anchor: str, palette: Palette
) -> dict[str, Any]:
    return {
        "domain": domain,
        "anchor": anchor,
        "tickvals": list(range(len(space))),
        "ticktext": [_tick(name, bool(is_in), palette) for name, is_in in zip(_ticks(space), members, strict=True)],
        "tickfont": {"size": 11},
        "autotickangles": [0, -45, -90],
        "showgrid": False,
    }


def _share_axis(domain: list[float], anchor: str, labelled: bool) -> dict[str, Any]:
    return {
        "domain": domain,
        "anchor": anchor,
        "range": [0, 1.05],
        "dtick": 0.5,
        "tickformat": ".0%",
        "showticklabels": labelled,
    }


def _title(space: LabelSpace, label: int) -> str:
    return f"true label {_short(space.legend_text(label), LONGEST_TITLE)}" if label >= 0 else "true label unknown"


def _ticks(space: LabelSpace) -> tuple[str, ...]:
    """Titles below the bars, or codes where titles would be cut."""
    return space.titles if max(map(len, space.titles)) <= LONGEST else space.codes


def _tick(name: str, is_candidate: bool, palette: Palette) -> str:
    return f"<b>{_short(name)}</b>" if is_candidate else f"<span style='color:{palette.muted}'>{_short(name)}</span>"


def _short(name: str, longest: int = LONGEST) -> str:
    """A class name that fits and is no markup."""
    return plain(name if len(name) <= longest else f"{name[: longest - 1]}…")
