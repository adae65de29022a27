"""Showing panels below the sliders that move them, and remembering where the sliders stand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import streamlit as st

from elimipl_app.shell.address import Bound, named
from elimipl_app.shell.moving.panels import Panel, as_data
from elimipl_app.shell.palette import current_palette

_FOLDER = Path(__file__).parent
_PARTS = ("elements", "drawing", "moving")
_component = st.components.v2.component(
    "elimipl_moving",
    css=(_FOLDER / "moving.css").read_text(encoding="utf-8"),
    js="\n".join((_FOLDER / f"{part}.js").read_text(encoding="utf-8") for part in _PARTS),
)


@dataclass(frozen=True)
class Slider:
    """A slider over `stages`; `key` is its name in the address, `titles` is what a person reads at each stage."""

    key: str
    label: str
    stages: Sequence[float]
    start: float | None = None
    titles: Sequence[str] | None = None
    plays: bool = False

    @property
    def first(self) -> float:
        return self.stages[0] if self.start is None else self.start

    @property
    def slot(self) -> str:
        """Where the session keeps the place; no widget has this name, so it outlives other pages."""
        return f"at-{self.key}"

    def read(self) -> float:
        """Where the slider stands: what the address asks for, else where it was left, else its start."""
        names = {f"{stage:g}": stage for stage in self.stages}
        bound = Bound(self.key, self.label, self.first, named(names), "{:g}".format, self.slot)
        if st.session_state.get(self.slot, self.first) not in self.stages:
            bound.set(self.first)
        return bound.value()

    def as_data(self, stands: float) -> dict[str, Any]:
        """The slider as the browser takes it."""
        shown = [f"{stage:g}" for stage in self.stages] if self.titles is None else list(self.titles)
        return {"key": self.key, "label": self.label, "titles": shown, "at": list(self.stages).index(stands),
                "plays": self.plays}  # fmt: skip


def show(key: str, sliders: Sequence[Slider], panels: Sequence[Panel], alt: str) -> dict[str, float]:
    """Show the panels and give back where the sliders stand, by their keys; `alt` is for screen readers."""
    stands = {slider.key: slider.read() for slider in sliders}
    lengths = {slider.key: len(slider.stages) for slider in sliders}
    for panel in panels:
        positions = getattr(panel, "values", getattr(panel, "lines", None))
        if positions is not None and len(positions) != math.prod(lengths[name] for name in panel.over):
            raise ValueError(f"{panel.kind} over {panel.over} has {len(positions)} positions")
    palette = current_palette()
    _component(
        key=key,
        data={
            "sliders": [slider.as_data(stands[slider.key]) for slider in sliders],
            "panels": [as_data(panel) for panel in panels],
            "alt": alt,
            "words": {"play": "Play", "pause": "Pause"},
            "colours": {"text": palette.text, "muted": palette.muted, "grid": palette.grid, "chosen": palette.chosen,
                        "alarm": palette.positive},
        },
        on_moved_change=lambda: _remember(key, sliders),
    )  # fmt: skip
    return stands


def _remember(key: str, sliders: Sequence[Slider]) -> None:
    """Keep where a person stopped."""
    moved = st.session_state[key]["moved"] or {}
    for slider in sliders:
        at = moved.get(slider.key)
        if isinstance(at, int) and 0 <= at < len(slider.stages):
            st.session_state[slider.slot] = slider.stages[at]
