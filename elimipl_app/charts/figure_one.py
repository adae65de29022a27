"""The label matrices of the paper's Figure 1: what is true, what is a false positive, what is left of it to see."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from elimipl_app.shell.palette import Palette

ZERO, TRUE, FALSE_POSITIVE, NON_CANDIDATE, CANDIDATE = range(5)
MEANINGS = ("zero entry", "ground truth", "false positive", "non-candidate", "candidate, true or false")
ROW_HEIGHT, FRAME_HEIGHT = 30, 180  # px; on a phone the legend takes three lines
SIGN_SHARE = 0.09  # of the width, for “=” and “+” between the matrices


def label_parts(true_indices: np.ndarray, candidates: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Y_F, Y_T and S̄, each (m, k) of 0 and 1, from true labels (m,) and candidate sets (m, k) bool."""
    true = np.zeros(candidates.shape, dtype=int)
    true[np.arange(len(true_indices)), true_indices] = 1
    return candidates.astype(int) - true, true, (~candidates).astype(int)


def label_strip(
    true_index: int, candidates: np.ndarray, names: Sequence[str], palette: Palette, hidden: bool = False
) -> go.Figure:
    """The k labels of one bag as squares; `hidden` does not tell the true label from the false positives."""
    false_positives, true, _ = label_parts(np.array([true_index]), candidates[None])
    codes = _codes(false_positives, true, hidden)
    figure = go.Figure(_cells(codes, names, ["this picture"], palette, np.ones_like(codes)))
    texts = {TRUE: "true", FALSE_POSITIVE: "false", NON_CANDIDATE: "not", CANDIDATE: "?"}
    for column, code in enumerate(codes[0]):
        figure.add_annotation(
            x=column, y=0, text=texts[int(code)], showarrow=False, font={"color": "#FFFFFF", "size": 14}
        )
    _add_legend(figure, sorted(set(codes.ravel().tolist())), palette)
    figure.update_xaxes(tickvals=list(range(len(names))), ticktext=list(names), side="bottom", showgrid=False)
    figure.update_yaxes(visible=False)
    return _with_legend_on_top(figure, 150)


def label_matrices(
    true_indices: np.ndarray,
    candidates: np.ndarray,
    names: Sequence[str],
    rows: Sequence[str],
    palette: Palette,
    as_machine: bool = False,
) -> go.Figure:
    """Figure 1b. As a learning machine sees it, Y_F and Y_T can't be told apart and only S = Y_F + Y_T is left."""
    false_positives, true, outside = label_parts(true_indices, candidates)
    whole = _codes(false_positives, true, as_machine)
    parts = [("Y", np.ones_like(whole), whole)]
    if as_machine:
        parts.append(("S", false_positives + true, np.where(candidates, CANDIDATE, ZERO)))
    else:
        parts.append(("Y<sub>F</sub>", false_positives, false_positives * FALSE_POSITIVE))
        parts.append(("Y<sub>T</sub> (sparse)", true, true * TRUE))
    parts.append(("S̄", outside, outside * NON_CANDIDATE))
    figure = make_subplots(rows=1, cols=len(parts), shared_yaxes=True, horizontal_spacing=SIGN_SHARE)
    for column, (title, values, codes) in enumerate(parts, start=1):
        figure.add_trace(_cells(codes, names, rows, palette, values), row=1, col=column)
        domain = figure.layout[f"xaxis{column if column > 1 else ''}"].domain
        figure.add_annotation(
            text=title,
            x=sum(domain) / 2,
            y=1,
            yshift=20,
            xref="paper",
            yref="paper",
            showarrow=False,
            xanchor="center",
            font={"size": 14},
        )
        if column > 1:
            sign = "=" if column == 2 else "+"
            figure.add_annotation(
                text=f"<b>{sign}</b>", x=domain[0] - SIGN_SHARE / 2, y=0.5, xref="paper", yref="paper", showarrow=False,
                xanchor="center", font={"size": 20},
            )  # fmt: skip
    _add_legend(figure, sorted({int(code) for _, _, codes in parts for code in codes.ravel()}), palette)
    figure.update_xaxes(
        type="category",  # on a phone Plotly then leaves out every second name, so that none touches the next
        labelalias={str(number): name for number, name in enumerate(names)},
        tickangle=-90,
        showgrid=False,
        tickfont={"size": 10},
    )
    figure.update_yaxes(
        tickvals=list(range(len(rows))), ticktext=list(rows), autorange="reversed", showgrid=False, ticklabelstandoff=4
    )
    return _with_legend_on_top(figure, FRAME_HEIGHT + ROW_HEIGHT * len(rows)).update_layout(margin={"t": 90, "b": 55})


def _codes(false_positives: np.ndarray, true: np.ndarray, hidden: bool) -> np.ndarray:
    """What each cell is, as one of the codes."""
    if hidden:
        return np.where(false_positives + true == 1, CANDIDATE, NON_CANDIDATE)
    return np.where(true == 1, TRUE, np.where(false_positives == 1, FALSE_POSITIVE, NON_CANDIDATE))


def _colours(palette: Palette) -> tuple[str, ...]:
    return (palette.grid, palette.true, palette.candidate, palette.non_candidate, palette.chosen)


def _cells(
    codes: np.ndarray, names: Sequence[str], rows: Sequence[str], palette: Palette, values: np.ndarray
) -> go.Heatmap:
    """Coloured cells; customdata holds the matrix entries, 0 or 1."""
    colours = _colours(palette)
    steps = len(colours)
    scale = [[(step + end) / steps, colour] for step, colour in enumerate(colours) for end in (0, 1)]
    text = [
        [f"{row}, {name}: {MEANINGS[int(code)]}" for name, code in zip(names, line, strict=True)]
        for row, line in zip(rows, codes, strict=True)
    ]
    return go.Heatmap(
        x=list(range(len(names))),
        z=codes,
        zmin=-0.5,
        zmax=len(colours) - 0.5,
        colorscale=scale,
        showscale=False,
        xgap=3,
        ygap=3,
        customdata=values.tolist(),
        text=text,
        hovertemplate="%{text}<extra></extra>",
    )


def _add_legend(figure: go.Figure, codes: Sequence[int], palette: Palette) -> None:
    for code in codes:
        figure.add_scatter(
            x=[None],
            y=[None],
            mode="markers",
            marker={"symbol": "square", "size": 13, "color": _colours(palette)[code]},
            name=MEANINGS[code],
        )


def _with_legend_on_top(figure: go.Figure, height: int) -> go.Figure:
    figure.update_layout(height=height, margin={"t": 40, "b": 30})
    return figure.update_layout(legend={"yref": "container", "y": 1, "yanchor": "top"})
