"""A slide map as the viewer gets it: numbers as base64, because a JSON list of them is ten times as long."""

import base64
from typing import Any

import numpy as np

from elimipl.class_marks import class_marks
from elimipl.slides import SlideMap
from elimipl_app.charts.map_layer import COLOUR_PAIRS, at, class_colours, diverging, rising

NOTHING = 255
"""Class of a tile that was left out, as the viewer knows it."""
_FINE = 65535
_COLOURS = "Teal"
_OCTAVES = (1.0, 6.0)  # least and most


def for_viewer(title: str, slide_map: SlideMap) -> dict[str, Any]:
    """Where the tiles lie, and the class, probability and attention of each."""
    classes, tissue = slide_map.classes, slide_map.grid.is_tissue
    octaves = _octaves(slide_map)
    return {
        "title": title,
        "cell": float(slide_map.about.step),
        "rows": slide_map.grid.rows,
        "columns": slide_map.grid.columns,
        "parts": slide_map.attention.shape[0] // slide_map.grid.rows,
        "classes": _text(np.where(tissue, classes, NOTHING).astype(np.uint8)),
        "probability": _text(_in_steps(slide_map.probability)),
        "attention": _text(_in_steps(_doublings(slide_map.attention, octaves) / (2 * octaves) + 0.5)),
        "sets": _sets(slide_map.label_sets),
        "octaves": octaves,
        "names": list(slide_map.label_space.titles),
        "codes": list(slide_map.label_space.codes),
        "marks": [list(mark) for mark in class_marks(classes)],
        "colours": list(class_colours(slide_map.label_space)),
    }


def _sets(members: np.ndarray | None) -> str | None:
    """The label set of every tile as the bits of a number; None without them, and for more classes than it has bits."""
    if members is None or members.shape[2] > 32:
        return None
    return _text((members * (1 << np.arange(members.shape[2], dtype="<u4"))).sum(axis=2).astype("<u4"))


def _octaves(slide_map: SlideMap) -> float:
    """How many doublings from the average the attention scale reaches on both sides; nearly even maps stay faint."""
    attention = slide_map.attention[slide_map.attention > 0]
    return float(np.clip(np.abs(np.log2(attention)).max(initial=0.0), *_OCTAVES))


def _doublings(attention: np.ndarray, most: float) -> np.ndarray:
    """Attention as doublings of the average, at most so many on both sides."""
    return np.clip(np.log2(np.maximum(attention, 2.0**-most)), -most, most)


def ramps() -> dict[str, str]:
    """The colours of probability and attention along their scales, 256 times red, green, blue and alpha."""
    scales = {"probability": rising(COLOUR_PAIRS[_COLOURS][1]), "attention": diverging(_COLOURS)}
    colours = {name: at(scale, np.linspace(0, 1, 256)) * [1, 1, 1, 255] for name, scale in scales.items()}
    return {name: _text(values.round().astype(np.uint8)) for name, values in colours.items()}


def _in_steps(shares: np.ndarray) -> np.ndarray:
    return np.round(np.clip(shares, 0.0, 1.0) * _FINE).astype("<u2")


def _text(array: np.ndarray) -> str:
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode("ascii")
