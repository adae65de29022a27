"""Scores painted on the picture: exact cells, raw values on hover, opacity and visibility set in the browser."""

import numpy as np
import plotly.graph_objects as go

from bag_generators import Bag
from ui.figures.plain_text import plain
from ui.figures.score_scale import ColouredScores
from ui.frame.palette import Palette

COLOUR_MAPS = ("Cividis", "Viridis", "Inferno", "Greys")
SIGNED_COLOUR_MAP = "PuOr"
OPACITIES = tuple(step / 10 for step in range(11))
MAP_HEIGHT, CONTROLS_HEIGHT = 430, 145  # screen px
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
    x_edges, y_edges, values = bag.regions.grid(scores.values)
    values = np.where(np.abs(values) >= threshold, values, np.nan)
    ticks, raw_scores = scores.ticks()
    figure.add_heatmap(
        x=x_edges,
        y=y_edges,
        z=values,
        zmin=scores.low,
        zmax=1.0,
        colorscale=SIGNED_COLOUR_MAP if scores.signed else colours,
        opacity=OPACITIES[START_OPACITY],
        hoverinfo="skip",  # the click targets on top answer, with the raw value
        colorbar={
            "title": {"text": plain(title), "side": "right"},
            "thickness": 12,
            "outlinewidth": 0,
            "tickvals": ticks,
            "ticktext": raw_scores,
            "len": 0.9,
        },
        name="heatmap",
    )
    _add_browser_controls(figure, len(figure.data) - 1, palette)


def _add_browser_controls(figure: go.Figure, trace: int, palette: Palette) -> None:
    """Opacity slider and show / hide buttons that restyle the trace in the browser: no request, no rerun."""
    steps = [
        {"method": "restyle", "args": [{"opacity": opacity}, [trace]], "label": f"{opacity:.0%}"}
        for opacity in OPACITIES
    ]
    slider = {
        "active": START_OPACITY,
        "currentvalue": {"prefix": "Opacity ", "font": {"color": palette.text, "size": 12}, "xanchor": "right"},
        "font": {"color": palette.muted, "size": 10},
        "tickcolor": palette.muted,
        "steps": steps,
        "pad": {"t": 70, "b": 10},  # below the buttons, which leave no room beside them in a narrow column
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
        "y": 0,
        "yanchor": "top",
        "pad": {"t": 30},
        "bgcolor": "#FFFFFF",
        "bordercolor": palette.grid,
        "font": {"size": 12, "color": "#1F1B24"},
    }
    figure.update_layout(sliders=[slider], updatemenus=[menu], height=CONTROLS_HEIGHT + MAP_HEIGHT)
    figure.update_layout(margin={"b": CONTROLS_HEIGHT})
