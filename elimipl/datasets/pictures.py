"""What kind of pictures bags were made of: whoever learned from drawings must not judge tissue, nor the reverse."""

from __future__ import annotations

from typing import Literal, get_args

Pictures = Literal["drawn phantoms", "tissue tiles", "no pictures"]
KINDS: tuple[Pictures, ...] = get_args(Pictures)
PHANTOMS, TILES, NO_PICTURES = KINDS

PHANTOM_SOURCE = "Phantoms drawn by this project"
"""What the source of every data set of phantoms begins with."""
PIXEL_MEASURES = frozenset(
    {"shorter_side", "aspect", "tissue", "sharpness", "unevenness", "stain_colour", "third_colour"}
)
"""What is measured on the pixels of every picture, by the names `bag_generators.tissue.quality` gives them."""
FIELD = "field"
"""Measured besides for generators that keep the scale of a picture: its shorter side in µm."""
_WITHOUT_PICTURES = frozenset({"", "matlab", "pixels", "birdsong"})


def pictures_of(generator: str, source: str) -> Pictures:
    """The kind of pictures behind bags, from what their data set says of itself.

    >>> pictures_of("sbn", "Phantoms drawn by this project, 30 per class"), pictures_of("pixels", "digits")
    ('drawn phantoms', 'no pictures')
    """
    if source.startswith(PHANTOM_SOURCE):
        return PHANTOMS
    return NO_PICTURES if generator in _WITHOUT_PICTURES else TILES
