"""The paper's Figure 2 over the epochs, its bars for several methods, and a little chart for every watched bag."""

from collections.abc import Sequence
from html import escape

import numpy as np
import plotly.graph_objects as go

from elimipl.training.figure_two import NAMES, FigureTwo
from elimipl_app.compare import texts
from elimipl_app.shell.palette import Palette

_DASHES = ("solid", "dash", "longdashdot", "dot")


def four_curves(
    four: np.ndarray, palette: Palette, epochs: int, first: int = 0, marked: int | None = None, top: float = 1.0
) -> go.Figure:
    """Curves of (t, 4) `four_probabilities` from epoch `first` on; `marked` draws a line at an epoch.

    `top` is the highest probability the scale has to reach.
    """
    figure = go.Figure()
    for column, (name, colour) in enumerate(zip(NAMES, _colours(palette), strict=True)):
        figure.add_scatter(
            x=np.arange(first, first + len(four)),
            y=four[:, column],
            mode="lines+markers" if len(four) == 1 else "lines",
            name=name,
            line={"color": colour, "dash": _DASHES[column], "width": 3},
            hovertemplate=f"{name} %{{y:.1%}}<extra></extra>",
        )
    if marked is not None:
        figure.add_vline(x=marked, line={"color": palette.muted, "width": 1.5})
    figure.update_xaxes(title="epoch", range=[0, epochs + 0.5])
    figure.update_yaxes(range=[0, 1.03 * top], tickformat=".0%")
    return figure.update_layout(height=280, hovermode="x unified")


def share_curves(found: FigureTwo, palette: Palette) -> go.Figure:
    """Shares of bags of which each statement of Figure 2 is true, over the epochs, with bands over the trainings."""
    figure = go.Figure()
    epochs = np.arange(found.shares.shape[1])
    low, high = found.shares.min(axis=0), found.shares.max(axis=0)
    colours = (palette.true, palette.non_candidate, palette.candidate, palette.muted, palette.text)
    for place, (title, colour) in enumerate(zip(texts.STATEMENT_TITLES, colours, strict=True)):
        if title != texts.STATEMENT_TITLES[3]:
            figure.add_scatter(
                x=np.concatenate([epochs, epochs[::-1]]),
                y=np.concatenate([high[:, place], low[::-1, place]]),
                fill="toself",
                fillcolor=colour,
                opacity=0.18,
                line={"width": 0},
                hoverinfo="skip",
                showlegend=False,
            )
        figure.add_scatter(
            x=epochs,
            y=found.median[:, place],
            mode="lines",
            name=title,
            line={
                "color": colour,
                "width": 3.5 if place == 4 else 2.5,
                "dash": ("dash", "dot", "longdash", "dashdot", "solid")[place],
            },
            hovertemplate=f"{title} %{{y:.0%}}<extra></extra>",
        )
    if found.window is not None:
        start, end = found.window
        figure.add_vrect(x0=start, x1=end, fillcolor=palette.grid, opacity=0.6, layer="below", line_width=0)
    figure.update_xaxes(title="epoch", range=[0, len(epochs) - 0.5])
    figure.update_yaxes(title="share of bags", range=[0, 1.03], tickformat=".0%")
    return figure.update_layout(height=340, hovermode="x unified", showlegend=True)


def final_bars(four: np.ndarray, palette: Palette, top: float = 1.0) -> go.Figure:
    """The bars of Figure 2 and the false candidates, (4,)."""
    figure = go.Figure()
    figure.add_bar(
        x=[name.replace("average ", "").replace(" ", "<br>").replace("non-", "non-<br>") for name in NAMES],
        y=four,
        marker={"color": _colours(palette)},
        text=[f"{value:.1%}" for value in four],
        textposition="outside",
        cliponaxis=False,
        hovertemplate="%{x}: %{y:.1%}<extra></extra>",
        showlegend=False,
    )
    figure.update_xaxes(tickangle=0, showgrid=False)
    figure.update_yaxes(range=[0, 1.15 * top], tickvals=[0, top / 2, top], tickformat=".0%")
    return figure.update_layout(height=250, bargap=0.45, margin={"b": 65})


def method_bars(four: np.ndarray, methods: Sequence[str], palette: Palette, top: float = 1.0) -> go.Figure:
    """The bars of every method side by side: (M, 4)."""
    figure = go.Figure()
    for column, (name, colour) in enumerate(zip(NAMES, _colours(palette), strict=True)):
        figure.add_bar(
            x=list(methods),
            y=four[:, column],
            name=name,
            marker={"color": colour},
            hovertemplate=f"%{{x}}, {name}: %{{y:.1%}}<extra></extra>",
        )
    figure.update_xaxes(showgrid=False)
    figure.update_yaxes(range=[0, 1.03 * top], tickformat=".0%")
    return figure.update_layout(height=300, barmode="group", bargap=0.25)


def _colours(palette: Palette) -> tuple[str, str, str, str]:
    return palette.true, palette.candidate, palette.chosen, palette.non_candidate


_GRID = "display:grid;grid-template-columns:repeat(auto-fill,minmax(8.5rem,1fr));gap:.6rem"


def small_multiples(
    bags: Sequence[tuple[str, np.ndarray, bool]], methods: tuple[str, str], palette: Palette, top: float = 1.0
) -> str:
    """HTML of one panel a bag: its title, its (2, 4) values under two methods, whether it is the chosen one.

    A bar of the probability `top` is as wide as its panel.
    """
    colours = _colours(palette)
    panels = ""
    for title, four, chosen in bags:
        said = " ".join(texts.four_alt(name, values) for name, values in zip(methods, four, strict=True))
        edge = f"2px solid {palette.chosen}" if chosen else f"1px solid {palette.grid}"
        panels += (
            f"<div role='img' aria-label='{escape(title)}. {escape(said)}' title='{escape(said)}' "
            f"style='border:{edge};border-radius:.4rem;padding:.3rem .4rem'>"
            f"<div style='font-size:.8rem'>{escape(title)}</div>{_bars(four / top, colours)}</div>"
        )
    return f"{_legend(colours)}<div style='{_GRID}'>{panels}</div>"


def _bars(four: np.ndarray, colours: Sequence[str]) -> str:
    return "".join(
        f"{_bar(before, colour, 4, 0.55)}{_bar(after, colour, 8, 1)}<div style='height:3px'></div>"
        for before, after, colour in zip(*four, colours, strict=True)
    )


def _bar(value: float, colour: str, height: int, opacity: float) -> str:
    width = 0.0 if np.isnan(value) else 100 * value
    return f"<div style='width:{width:.1f}%;height:{height}px;background:{colour};opacity:{opacity}'></div>"


def _legend(colours: Sequence[str]) -> str:
    entries = "".join(
        f"<span style='white-space:nowrap'><span style='color:{colour}'>■</span> {name}</span> "
        for name, colour in zip(NAMES, colours, strict=True)
    )
    return f"<div style='display:flex;flex-wrap:wrap;gap:0 .9rem;font-size:.8rem;margin-bottom:.4rem'>{entries}</div>"
