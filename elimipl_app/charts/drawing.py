"""A figure in the making, written down as Plotly's own JSON.

Plotly checks and copies every property that is set, which takes most of the time that making a figure takes. Explore
draws several of them at every change, for many visitors at once, so here nothing is checked while a page runs:
tests/elimipl_app/charts/test_drawing.py has Plotly check the figures that are made this way.
"""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go


def plain(text: str) -> str:
    """The text as Plotly shows it unchanged: it reads <tags>, &entities; and, in hover texts, %{placeholders}.

    >>> plain("<a href='x'>T&N</a> %{y}")
    "&lt;a href='x'&gt;T&amp;N&lt;/a&gt; %&#123;y}"
    """
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("%{", "%&#123;")


class Drawing:
    """Traces and layout. Methods are those of a Plotly figure, without its short forms: {"title": {"text": …}}."""

    def __init__(self) -> None:
        self.traces: list[dict[str, Any]] = []
        self.layout: dict[str, Any] = {"xaxis": {}, "yaxis": {}}

    def add_scatter(self, **properties: Any) -> None:
        self._add("scatter", properties)

    def add_bar(self, **properties: Any) -> None:
        self._add("bar", properties)

    def add_heatmap(self, **properties: Any) -> None:
        self._add("heatmap", properties)

    def add_shape(self, **properties: Any) -> None:
        self.layout.setdefault("shapes", []).append(properties)

    def add_annotation(self, **properties: Any) -> None:
        self.layout.setdefault("annotations", []).append(properties)

    def add_layout_image(self, **properties: Any) -> None:
        self.layout.setdefault("images", []).append(properties)

    def update_layout(self, **properties: Any) -> Drawing:
        """Set properties; those that were set before under the same name go."""
        self.layout.update(properties)
        return self

    def update_xaxes(self, **properties: Any) -> None:
        """Add to the properties of the x axis."""
        self.layout["xaxis"].update(properties)

    def update_yaxes(self, **properties: Any) -> None:
        """Add to the properties of the y axis."""
        self.layout["yaxis"].update(properties)

    def figure(self) -> go.Figure:
        """The drawing for Plotly, unchecked."""
        return go.Figure({"data": self.traces, "layout": self.layout}, _validate=False)

    def _add(self, kind: str, properties: dict[str, Any]) -> None:
        """What is None is not set, as in Plotly's figures."""
        given = {name: value for name, value in properties.items() if value is not None}
        self.traces.append({"type": kind, **given})
