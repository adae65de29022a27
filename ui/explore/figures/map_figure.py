"""The map of the page as one figure: the picture, the layers, what was removed or drawn, and where to click."""

import numpy as np
import plotly.graph_objects as go

from ui.explore import sentences, texts
from ui.explore.analysis import Analysis
from ui.explore.figures.field_figure import add_move_targets, add_region, field_drawing
from ui.explore.maps import VEIL, panels_of, veil_of, vote_codes, vote_shares
from ui.explore.view_state import ViewState
from ui.figures.drawing import Drawing
from ui.figures.map_colours import class_colours
from ui.figures.map_layer import joined
from ui.figures.plain_text import plain
from ui.figures.tissue import add_click_targets, add_outlines
from ui.frame.palette import Palette


def map_figure(analysis: Analysis, view: ViewState, scores: np.ndarray, palette: Palette) -> go.Figure:
    """The picture with the map and what else is set to stand beside it; every panel can be clicked."""
    panels = panels_of(analysis, view)
    drawing = field_drawing(analysis.view, palette, tuple(panel.title for panel in panels))
    x, y = analysis.view.x, analysis.view.y
    with_bar = max((number for number, panel in enumerate(panels) if panel.layers), default=0)
    for number, panel in enumerate(panels):
        for layer in (joined(panel.layers),) if len(panel.layers) > 1 else panel.layers:
            layer.add_to(drawing, view.opacity, x, y, panel=number + 1, with_bar=number == with_bar)
    painted = len(drawing.traces)
    if view.outlined:
        add_outlines(drawing, analysis.bag, palette, x, y)
    _add_removed(drawing, analysis, view.removed, len(panels))
    add_region(drawing, [np.array(polygon) for polygon in view.region], palette.text)
    add_move_targets(drawing, analysis.view)
    add_click_targets(drawing, analysis.bag, scores, palette, texts.SOURCE_TITLES[view.kind], x, y)
    for number in range(2, len(panels) + 1):
        for trace in drawing.traces[painted:]:
            if "xaxis" not in trace:
                drawing.traces.append({**trace, "xaxis": f"x{number}", "yaxis": f"y{number}"})
    for trace in drawing.traces:
        trace["showlegend"] = False
    if view.kind == "vote" and not view.hidden:
        _add_codes(drawing, analysis, view)
        _add_legend(drawing, analysis)
    return drawing.figure()


def _add_legend(drawing: Drawing, analysis: Analysis) -> None:
    """Names and shares of the classes that won some of the picture."""
    shares = vote_shares(analysis.bag, analysis.every_score("single"), analysis.labels)
    for index in np.argsort(-shares):
        if shares[index] > 0:
            drawing.add_scatter(
                x=[None],
                y=[None],
                mode="markers",
                marker={"symbol": "square", "size": 12, "color": class_colours(analysis.labels)[index]},
                name=sentences.vote_legend(analysis.labels.legend_text(index), float(shares[index])),
                hoverinfo="skip",
            )
    drawing.update_layout(
        showlegend=True,
        legend={"orientation": "h", "y": -0.01, "yanchor": "top", "x": 0, "itemclick": False, "itemdoubleclick": False},
    )


def _add_codes(drawing: Drawing, analysis: Analysis, view: ViewState) -> None:
    """The code of each class on its regions of the map: colour alone tells twelve classes apart to nobody."""
    codes = vote_codes(analysis.bag, analysis.every_score("single"), analysis.labels, view.threshold)
    drawing.add_scatter(
        x=[analysis.view.x + x for x, _, _ in codes],
        y=[analysis.view.y + y for _, y, _ in codes],
        mode="markers+text",
        marker={"size": 18, "color": "white", "opacity": 0.75},
        text=[plain(code) for _, _, code in codes],
        textfont={"size": 10, "color": "#1F1B24"},
        hoverinfo="skip",
        showlegend=False,
        name="codes",
    )


def _add_removed(drawing: Drawing, analysis: Analysis, removed: tuple[int, ...], panels: int) -> None:
    """Cross out what was taken away, and cover cells."""
    if not removed:
        return
    if (veil := veil_of(analysis, removed)) is not None:
        for number in range(1, panels + 1):
            veil.add_to(drawing, VEIL, analysis.view.x, analysis.view.y, panel=number)
    centres = analysis.crosses(removed)
    for colour, width in (("white", 5), ("#1F1B24", 2.5)):
        drawing.add_scatter(
            x=analysis.view.x + centres[:, 0],
            y=analysis.view.y + centres[:, 1],
            mode="markers",
            marker={"symbol": "x-thin", "size": 14, "line": {"color": colour, "width": width}},
            hoverinfo="skip",
            showlegend=False,
            name="removed",
        )
