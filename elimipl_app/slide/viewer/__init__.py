"""The deep-zoom viewer: JavaScript of our own, one component with one or two panes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import streamlit as st

_FOLDER = Path(__file__).parent
_PARTS = ("view", "tiles", "maps", "marks", "drawing", "pointing", "controls", "main")
"""One module for the browser: Streamlit takes a component's program as one text."""

_viewer = st.components.v2.component(
    "elimipl_slide_viewer",
    css=(_FOLDER / "viewer.css").read_text(encoding="utf-8"),
    js="\n".join((_FOLDER / f"{part}.js").read_text(encoding="utf-8") for part in _PARTS),
)


def show_viewer(data: dict[str, Any], key: str, on_drawn: Callable[[], None]) -> Any:
    """Show a slide. `.opened` is the field that a person asked to open, for one run.

    Before a run in which a region was drawn, `on_drawn` finds its ring under `drawn` in `st.session_state[key]`.
    """
    return _viewer(key=key, data=data, on_opened_change=lambda: None, on_drawn_change=on_drawn)
