"""Scores painted on the picture: exact cells, raw values on hover, opacity and visibility set in the browser."""

import plotly.graph_objects as go

from bag_generators import Bag
from ui.palette import Palette
from ui.score_scale import ColouredScores

COLOUR_MAPS = ("Cividis", "Viridis", "Inferno", "Greys")
SIGNED_COLOUR_MAP = "PuOr"
OPACITIES = tuple(step / 10 for step in range(11))
START_OPACITY = 6  # index into OPACITIES


def add_heatmap(
    figure: go.Figure,
    bag: Bag,
    scores: ColouredScores,
    palette: Palette,
    title: str,
    colours: str = "Cividis",
    threshold: float = 0.0,
) -> None:
    """Paint one value per instance. What lies below `threshold` (a share of the scale, 0..1) stays clear.

    Plotly takes the edges of the cells, so the map lies on the picture to the pixel; nothing is blurred.
    """
    painted = [value if abs(value) >= threshold else float("nan") for value in scores.values.tolist()]
    x_edges, y_edges, values = bag.regions.grid(painted)
    _, _, raw = bag.regions.grid(scores.raw)
    figure.add_heatmap(
        x=x_edges,
        y=y_edges,
        z=values,
        customdata=raw,
        zmin=scores.low,
        zmax=scores.high,
        colorscale=SIGNED_COLOUR_MAP if scores.signed else colours,
        opacity=OPACITIES[START_OPACITY],
        hovertemplate=title + " %{customdata:.4f}<extra></extra>",
        hoverongaps=False,
        colorbar={
            "title": {"text": title, "side": "right"},
            "thickness": 12,
            "outlinewidth": 0,
            "tickfont": {"color": palette.text},
            **_raw_ticks(scores),
        },
        name="heatmap",
    )
    _add_browser_controls(figure, len(figure.data) - 1, palette)


def _raw_ticks(scores: ColouredScores) -> dict[str, list[float] | list[str]]:
    """Colour bar ticks at the scaled positions of the raw values, so that the bar can be read in raw units."""
    pairs = sorted({(round(float(v), 6), float(r)) for v, r in zip(scores.values, scores.raw, strict=True)})
    if len(pairs) > 7:
        pairs = [pairs[round(step * (len(pairs) - 1) / 6)] for step in range(7)]
    return {"tickvals": [value for value, _ in pairs], "ticktext": [f"{raw:.3g}" for _, raw in pairs]}


def _add_browser_controls(figure: go.Figure, trace: int, palette: Palette) -> None:
    """Opacity slider and show / hide buttons that restyle the trace in the browser: no request, no rerun."""
    steps = [
        {"method": "restyle", "args": [{"opacity": opacity}, [trace]], "label": f"{opacity:.0%}"}
        for opacity in OPACITIES
    ]
    slider = {
        "active": START_OPACITY,
        "currentvalue": {"prefix": "Opacity ", "font": {"color": palette.text, "size": 12}},
        "font": {"color": palette.muted, "size": 9},
        "steps": steps,
        "pad": {"t": 8, "b": 0},
        "x": 0.3,
        "len": 0.7,
        "y": 0,
    }
    buttons = [
        {"label": "Show map", "method": "restyle", "args": [{"visible": True}, [trace]]},
        {"label": "Hide map", "method": "restyle", "args": [{"visible": False}, [trace]]},
    ]
    menu = {
        "type": "buttons",
        "direction": "right",
        "buttons": buttons,
        "showactive": True,
        "x": 0,
        "xanchor": "left",
        "y": -0.03,
        "yanchor": "top",
        "font": {"size": 11},
    }
    figure.update_layout(sliders=[slider], updatemenus=[menu], margin={"b": 70})
