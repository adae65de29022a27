"""One way to put a figure on the lesson's page."""

from collections.abc import Callable

import plotly.graph_objects as go
import streamlit as st

CONFIG = {"displayModeBar": False, "scrollZoom": False, "responsive": True}


def chart(figure: go.Figure, key: str, alt: str, on_click: Callable[[], None] | None = None) -> None:
    """Show a figure; `on_click` makes its points selectable."""
    if on_click is None:
        st.plotly_chart(figure, theme=None, config=CONFIG, key=key, alt=alt)
    else:
        st.plotly_chart(
            figure, theme=None, config=CONFIG, key=key, alt=alt, on_select=on_click, selection_mode="points"
        )


def clicked_instance(key: str) -> int | None:
    """The instance under the last click in the figure called `key`."""
    points = st.session_state[key]["selection"]["points"]
    return int(points[0]["customdata"]) if points else None


def collected(name: str, item: object) -> int:
    """Add to what the learner has seen in this visit; how many different things that is now."""
    seen = st.session_state.setdefault(f"seen-{name}", set())
    seen.add(item)
    return len(seen)


def count_collected(name: str) -> int:
    """How many different things the learner has seen."""
    return len(st.session_state.get(f"seen-{name}", ()))
