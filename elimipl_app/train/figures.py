"""The Train page's own figures: the weights of watched bags, and accuracies of short trainings."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from elimipl.candidates.labels import OKABE_ITO, LabelSpace
from elimipl_app.charts.drawing import plain
from elimipl_app.shell.palette import Palette

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


def what_if_curves(curves: Mapping[str, Sequence[float]], epochs: int, chance: float, palette: Palette) -> go.Figure:
    """One line a what-if by its title, the last one thick; a dotted line says what guessing would get."""
    figure = go.Figure()
    for number, (title, values) in enumerate(curves.items()):
        latest = number == len(curves) - 1
        figure.add_scatter(
            x=list(range(1, len(values) + 1)),
            y=list(values),
            mode="lines+markers" if len(values) == 1 else "lines",
            name=plain(title),
            line={"color": palette.chosen if latest else OKABE_ITO[number], "width": 4 if latest else 1.5},
            hovertemplate=f"{plain(title)} %{{y:.0%}}<extra></extra>",
        )
    figure.add_hline(y=chance, line={"color": palette.muted, "dash": "dot", "width": 1.5})
    figure.update_xaxes(title="epoch", range=[0, epochs + 0.5])
    figure.update_yaxes(title="held-out accuracy", range=[0, 1.03], tickformat=".0%")
    below = {"orientation": "h", "y": -0.25, "yanchor": "top"}
    return figure.update_layout(height=340, hovermode="x unified", showlegend=True, legend=below)
