"""Small multiples: one little bar chart for every watched bag, as many side by side as the window has room for."""

from collections.abc import Sequence
from html import escape

import numpy as np

from elimipl.training.figure_two import NAMES
from ui.compare import texts
from ui.frame.palette import Palette

_GRID = "display:grid;grid-template-columns:repeat(auto-fill,minmax(8.5rem,1fr));gap:.6rem"


def small_multiples(
    bags: Sequence[tuple[str, np.ndarray, bool]], methods: tuple[str, str], palette: Palette, top: float = 1.0
) -> str:
    """HTML of one panel a bag: its title, its (2, 4) values under two methods, whether it is the chosen one.

    A bar of the probability `top` is as wide as its panel.
    """
    colours = (palette.true, palette.candidate, palette.chosen, palette.non_candidate)
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
