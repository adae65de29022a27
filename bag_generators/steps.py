"""How an instance came about, step by step, as data: what to draw, without saying how.

A generator describes its own steps with these few kinds of drawing; whoever shows them decides on colours and sizes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

Box: TypeAlias = tuple[float, float, float, float]
"""x0, y0, x1, y1 in cells or pixels of the drawing."""


@dataclass(frozen=True, eq=False)
class Pixels:
    """A picture (H, W, 3) of 0..255 with some boxes framed; the first one is the instance."""

    pixels: np.ndarray
    frames: Sequence[Box] = ()


@dataclass(frozen=True, eq=False)
class NumberMap:
    """One number a cell, (rows, columns): what it is, and some boxes framed."""

    values: np.ndarray
    name: str
    frames: Sequence[Box] = ()
    grey: bool = False


@dataclass(frozen=True, eq=False)
class Swatches:
    """Colours (n, 3) of 0..255 with a name each."""

    colours: Sequence[np.ndarray]
    names: Sequence[str]


@dataclass(frozen=True, eq=False)
class Tries:
    """A number that was tried, what came out, and the one that was kept."""

    tried: Sequence[int]
    results: Sequence[float]
    kept: int
    tried_name: str
    result_name: str


@dataclass(frozen=True, eq=False)
class Segments:
    """A map of instance numbers (rows, columns), one of them in its colour (3,)."""

    cells: np.ndarray
    chosen: int
    colour: np.ndarray


@dataclass(frozen=True, eq=False)
class Stars:
    """Strengths (rows, columns, directions), directions anticlockwise from the right."""

    strengths: np.ndarray


Drawing: TypeAlias = Pixels | NumberMap | Swatches | Tries | Segments | Stars


@dataclass(frozen=True, eq=False)
class Step:
    """One step: a sentence without its full stop, and what to draw."""

    title: str
    drawing: Drawing
