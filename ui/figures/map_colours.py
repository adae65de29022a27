"""Colours of maps that lie on pink tissue: two for below and above the middle of a scale, one for each class."""

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

import numpy as np

from elimipl.labels import LabelSpace

COLOUR_PAIRS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "Teal": ("#8C4A00", "#00746B"),
        "Blue": ("#A63603", "#08519C"),
        "Yellow": ("#1B1464", "#FFD400"),
        "Grey": ("#FFFFFF", "#000000"),
    }
)
"""Below and above the middle, by the name a person chooses; none of them is a colour of haematoxylin or eosin."""

TISSUE = ("#E9B8D0", "#D98FB5", "#C58BC0", "#8E5A9E", "#F4DCE8")
"""Usual colours of a section stained with haematoxylin and eosin."""
APART_FROM_TISSUE = 28.0  # distance in CIE L*a*b* below which a colour is lost on the section
RESERVE = ("#5B2A00", "#00E5FF", "#7CFC00", "#1A1A1A", "#0B3D91", "#B8860B")

_ALPHAS = ((0.0, 0.0), (0.12, 0.35), (0.4, 0.7), (1.0, 1.0))
"""How opaque a colour is along its half of the scale: small differences stay faint, but can be seen."""

BELOW = 0.7
"""What lies below the middle is paler: the eye is meant to find what lies above."""

ColourScale = list[tuple[float, str]]


def diverging(colours: str) -> ColourScale:
    """A Plotly scale that is clear in the middle and grows opaque towards both ends."""
    below, above = COLOUR_PAIRS[colours]
    low = [(0.5 - position / 2, _rgba(below, BELOW * alpha)) for position, alpha in reversed(_ALPHAS)]
    high = [(0.5 + position / 2, _rgba(above, alpha)) for position, alpha in _ALPHAS]
    return [*low, *high]


def rising(colour: str) -> ColourScale:
    """A Plotly scale that is clear at its start and opaque at its end."""
    return [(position, _rgba(colour, alpha)) for position, alpha in _ALPHAS]


def at(scale: ColourScale, share: np.ndarray) -> np.ndarray:
    """What a scale shows at positions 0..1, (…, 4) float: red, green, blue 0..255 and alpha 0..1, as browsers do."""
    stops = np.array([stop for stop, _ in scale])
    colours = np.array([_numbers(colour) for _, colour in scale])
    return np.stack([np.interp(share, stops, colours[:, channel]) for channel in range(4)], axis=-1)


def class_colours(labels: LabelSpace) -> tuple[str, ...]:
    """One colour per class: its own, or one of the reserve where its own is a colour of the tissue itself."""
    return _seen_on_tissue(labels.colours)


@lru_cache(maxsize=64)
def _seen_on_tissue(colours: tuple[str, ...]) -> tuple[str, ...]:
    free = iter(colour for colour in RESERVE if colour not in colours)
    return tuple(colour if is_seen_on_tissue(colour) else next(free, colour) for colour in colours)


def is_seen_on_tissue(colour: str) -> bool:
    """Whether a colour differs enough from everything a stained section usually shows.

    >>> is_seen_on_tissue("#CC79A7"), is_seen_on_tissue("#009E73")
    (False, True)
    """
    return min(float(np.linalg.norm(_lab(colour) - _lab(other))) for other in TISSUE) >= APART_FROM_TISSUE


def channels(colour: str) -> tuple[int, int, int]:
    """Red, green and blue of a hex code."""
    red, green, blue = (int(colour[start : start + 2], 16) for start in (1, 3, 5))
    return red, green, blue


def _rgba(colour: str, alpha: float) -> str:
    red, green, blue = channels(colour)
    return f"rgba({red},{green},{blue},{alpha:.3g})"


def _numbers(rgba: str) -> list[float]:
    return [float(part) for part in rgba.removeprefix("rgba(").removesuffix(")").split(",")]


def _lab(colour: str) -> np.ndarray:
    """CIE L*a*b* (D65) of a hex code."""
    rgb = np.array(channels(colour)) / 255
    linear = np.where(rgb > 0.04045, ((rgb + 0.055) / 1.055) ** 2.4, rgb / 12.92)
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]) @ linear
    scaled = xyz / np.array([0.9505, 1.0, 1.089])
    f = np.where(scaled > 0.008856, np.cbrt(scaled), 7.787 * scaled + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])
