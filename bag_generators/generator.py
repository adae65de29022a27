"""What a bag generator is: a function from pixels to a bag of instances, and everything that is said about it.

How an instance came about is told as data: a few kinds of drawing, whose colours and sizes are up to who shows them.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

import numpy as np

from bag_generators.base.errors import InputError
from bag_generators.base.pool import importable_name
from bag_generators.base.worker import imported
from bag_generators.regions import Regions


@dataclass(frozen=True, eq=False)
class Bag:
    """n instances of one picture, each a feature vector and the region of the picture it describes.

    `generate(bag.generator, image, **bag.params)` on the same picture gives the same bag again.
    """

    features: np.ndarray
    """(n, d) float32, read-only."""
    regions: Regions
    generator: str
    params: Mapping[str, Any]
    """Every parameter of the generator with the value used; read-only."""
    feature_names: tuple[str, ...]
    """d names for a person."""
    image_sha256: str

    def __post_init__(self) -> None:
        n, d = self.features.shape
        if self.features.dtype != np.float32 or len(self.regions) != n or len(self.feature_names) != d:
            raise ValueError(
                f"a bag of {n}×{d} {self.features.dtype} does not fit {len(self.regions)} regions "
                f"and {len(self.feature_names)} feature names"
            )
        self.features.flags.writeable = False
        object.__setattr__(self, "params", MappingProxyType(dict(self.params)))

    def __len__(self) -> int:
        return len(self.features)

    def __reduce__(self) -> tuple[Any, ...]:
        # A read-only mapping can't travel between processes, a dict can; read-only arrays are made so again.
        about = self.generator, dict(self.params), self.feature_names, self.image_sha256
        return Bag, (self.features, self.regions, *about)


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


Sees: TypeAlias = Literal["working copy", "original"]
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")
_SENT = ("name", "title", "summary", "feature_names", "sees", "microns_per_pixel")


def stands_out(bag: Bag, instance: int) -> str:
    """The features in which an instance differs most from the rest of its bag, for generators that say nothing."""
    values, mean = bag.features[instance], bag.features.mean(axis=0)
    spread = bag.features.std(axis=0)
    if not spread.any():
        return "It has the same numbers as every other instance of the bag."
    distance = np.divide(values - mean, spread, out=np.zeros(len(values)), where=spread > 0)
    said = [
        f"{bag.feature_names[i]} {values[i]:.4g} (the bag's mean is {mean[i]:.4g})"
        for i in np.argsort(-np.abs(distance), kind="stable")[:2]
    ]
    return f"It stands out in {' and '.join(said)}."


def where_it_lies(pixels: np.ndarray, bag: Bag, instance: int) -> list[Step]:
    """The picture with the instance framed, for generators that show no steps of their own."""
    height, width = bag.regions.shape
    down, right = pixels.shape[0] / height, pixels.shape[1] / width
    x0, y0, x1, y1 = bag.regions.box(instance)
    frame = (x0 * right, y0 * down, x1 * right, y1 * down)
    return [Step("The picture as the generator sees it, the instance framed", Pixels(pixels, [frame]))]


@dataclass(frozen=True)
class Generator:
    """One way to turn a picture into a bag, with what a person needs to choose and to understand it.

    Only the first five are needed. What a generator does not say has a default that fits any bag.
    """

    name: str
    """As in commands and cards: lower-case letters, digits, - and _."""
    title: str
    """As on the pages and in links."""
    summary: str
    """One sentence: what an instance is and what its numbers say."""
    feature_names: tuple[str, ...]
    function: Callable[..., tuple[np.ndarray, Regions]]
    """(pixels H×W×3 uint8, (H, W) of the picture, **own parameters) → features (n, d), regions."""
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """Every own parameter with its default. `stain` is everybody's and need not be named."""
    sees: Sees = "working copy"
    """The pixels the function gets: the 224×224 working copy, or the picture's own."""
    microns_per_pixel: float | None = None
    """The scale at which the function wants the picture's own pixels, where the picture's scale is known."""
    in_words: Callable[[Bag, int], str] = stands_out
    """One instance of a bag in sentences."""
    steps: Callable[[np.ndarray, Bag, int], Sequence[Step]] = where_it_lies
    """(the pixels the function got, bag, instance) → how the instance came about, without its numbers themselves."""
    remark: str = ""
    """Something to know about the steps."""
    files: tuple[str, ...] = ()
    """Files below `assets` that the function computes with; models name their sums, so that no other is used."""

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise InputError(
                f"A generator can't be called {self.name!r}.", "Use up to 40 lower-case letters, digits, - and _."
            )
        if not (self.title.strip() and self.feature_names and callable(self.function)):
            raise InputError(
                f"The generator {self.name!r} is not complete.", "Give it a title, feature names and a function."
            )
        object.__setattr__(self, "defaults", MappingProxyType({"stain": "none", **self.defaults}))

    def __reduce__(self) -> tuple[Any, ...]:
        # Another process imports the function by its name; what is said about the bags stays at home.
        sent = {name: getattr(self, name) for name in _SENT} | {"defaults": dict(self.defaults)}
        return _arrived, (_found_in(self.function.__module__), importable_name(self.function), sent)


def _arrived(found_in: str, function: str, sent: dict[str, Any]) -> Generator:
    if found_in not in sys.path:
        sys.path.append(found_in)
    return Generator(function=imported(function), **sent)


def _found_in(module: str) -> str:
    file = getattr(sys.modules[module], "__file__", None)
    if file is None:
        return ""
    depth = module.count(".") + (Path(file).stem == "__init__")
    return str(Path(file).resolve().parents[depth])
