"""What can move: bars, columns, lines, a picture with a map on it, and words.

`over` names the sliders a panel follows. Its positions are in the order of `itertools.product` over their stages: the
last slider runs fastest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

Numbers = Sequence[float] | np.ndarray
Positions = Sequence[Numbers] | np.ndarray
"""The numbers of each position."""
DIGITS = 4


@dataclass(frozen=True)
class Bars:
    """Horizontal bars, one a name; `ends` draws an arrow from each bar's value to where it goes."""

    over: tuple[str, ...]
    names: Sequence[str]
    colours: Sequence[str]
    values: Positions
    title: str = ""
    ends: Positions | None = None
    framed: int | None = None
    """The bar that is outlined and called `framed_as`."""
    framed_as: str = "true"
    highest: float = 1.0
    percent: bool = True
    weight: float = 1.0
    kind: str = field(default="bars", init=False)


@dataclass(frozen=True)
class Columns:
    """Vertical bars by number; `line` is a dotted line, called `line_name`; `legend` names the colours."""

    over: tuple[str, ...]
    colours: Sequence[str]
    values: Positions
    highest: float
    title: str = ""
    axis: str = "instance"
    line: float | None = None
    line_name: str = "even share"
    legend: Sequence[tuple[str, str]] = ()
    chosen_by: str | None = None
    """The slider that says which column is outlined."""
    height: int = 210
    weight: float = 1.0
    kind: str = field(default="columns", init=False)


@dataclass(frozen=True)
class Series:
    """One line of a figure, its points at the places of `Lines.x`; None leaves a gap."""

    name: str
    colour: str
    values: Sequence[float | None]
    dash: str = ""
    width: float = 2.5
    spread: Sequence[float] | None = None
    """Half the length of the whisker at each point."""
    marks: bool = False
    hollow: bool = False
    """Rings without a line, for numbers of somebody else."""


@dataclass(frozen=True)
class Lines:
    """Lines drawn up to where the slider stands; the rest stays faint, or hidden where it is not to be seen yet."""

    over: tuple[str, ...]
    x: Numbers
    series: Sequence[Series]
    x_title: str
    y_title: str = ""
    title: str = ""
    highest: float = 1.0
    percent: bool = True
    level: float | None = None
    """A dotted line, called `level_name`."""
    level_name: str = "chance"
    star: tuple[float, float, str] | None = None
    """A guess: x, y and what it is called."""
    ahead: bool = True
    """Whether what lies ahead of the slider is shown faintly."""
    height: int = 250
    weight: float = 1.3
    kind: str = field(default="lines", init=False)


@dataclass(frozen=True)
class PicturePanel:
    """A picture with regions (polygons of x, y) painted by values from 0 to `highest`."""

    over: tuple[str, ...]
    source: str
    width: int
    height: int
    regions: Sequence[Sequence[Sequence[Sequence[float]]]]
    values: Positions
    highest: float
    colours: Sequence[str]
    """The frame of each region."""
    title: str = ""
    weight: float = 0.7
    kind: str = field(default="picture", init=False)


@dataclass(frozen=True)
class Words:
    """A sentence for every position; **bold** as in Markdown, `alarm` marks positions of warning."""

    over: tuple[str, ...]
    lines: Sequence[str]
    alarm: Sequence[bool] | None = None
    weight: float = 0.0
    """0: below the figures, over the whole width."""
    kind: str = field(default="words", init=False)


Panel = Bars | Columns | Lines | PicturePanel | Words


def as_data(panel: Panel) -> dict[str, Any]:
    """The panel as the browser takes it, with numbers of a few digits."""
    data: dict[str, Any] = _rounded(asdict(panel))
    return data


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, float):
        return round(value, DIGITS)
    return [_rounded(item) for item in value] if isinstance(value, list | tuple) else value
