"""The one way a figure comes onto a page: the look of both themes, no tool bar, clicks that reach the server."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from elimipl_app.shell.palette import Palette, current_palette

CONFIG = {"displayModeBar": False, "scrollZoom": False, "responsive": True}
ZOOM_BUTTONS, DRAW_BUTTONS = ["zoomIn2d", "zoomOut2d", "resetScale2d"], ["select2d", "lasso2d", "pan2d"]
ZOOMING = {
    "displayModeBar": True,
    "displaylogo": False,
    "modeBarButtons": [ZOOM_BUTTONS],
    "scrollZoom": True,
    "responsive": True,
}
DRAWING = {**ZOOMING, "modeBarButtons": [DRAW_BUTTONS, ZOOM_BUTTONS]}
CLEAR = "rgba(0,0,0,0)"
FONT = '"Source Sans", sans-serif'  # the one Streamlit sets the page in


def show(
    figure: go.Figure,
    key: str,
    alt: str,
    on_click: Callable[[], None] | None = None,
    selects: tuple[Any, ...] = ("points",),
    zooms: bool = False,
    draws: bool = False,
) -> None:
    """Show a figure in the theme of this visitor; `alt` is for screen readers.

    `on_click` makes `selects` selectable: points, boxes, free shapes. A figure that `zooms` follows wheel and drag and
    shows a button to go back; one that also `draws` has buttons for a box, a free shape and moving the picture.
    """
    figure.update_layout(template=look(current_palette()))
    config = DRAWING if draws else ZOOMING if zooms else CONFIG
    if on_click is None:
        st.plotly_chart(figure, theme=None, config=config, key=key, alt=alt)
    else:
        st.plotly_chart(figure, theme=None, config=config, key=key, alt=alt, on_select=on_click, selection_mode=selects)


def clicked_point(key: str) -> dict[str, Any] | None:
    """The point under the last click in the figure called `key`."""
    points = st.session_state[key]["selection"]["points"]
    return points[0] if points else None


def clicked_instance(key: str) -> int | None:
    """The instance under the last click in the figure called `key`."""
    point = clicked_point(key)
    return None if point is None else int(point["customdata"])


@lru_cache(maxsize=4)
def look(palette: Palette) -> go.layout.Template:
    """What all figures of a theme have in common; whatever a figure sets itself goes before it."""
    axis = {
        "gridcolor": palette.grid,
        "zeroline": False,
        "zerolinecolor": palette.muted,
        "automargin": True,
        "ticks": "",
        "title": {"font": {"size": 13}},
    }
    return go.layout.Template(
        layout={
            "font": {"color": palette.text, "size": 13, "family": FONT},
            "paper_bgcolor": CLEAR,
            "plot_bgcolor": CLEAR,
            "margin": {"l": 10, "r": 10, "t": 10, "b": 40},
            "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
            "hoverlabel": {"bgcolor": palette.grid, "font": {"color": palette.text, "family": FONT}, "align": "left"},
            "dragmode": False,
            "xaxis": axis,
            "yaxis": axis,
        }
    )
