"""The field of view: how much of a large picture a model reads at once, and where it looks first."""

from __future__ import annotations

from bag_generators.image import TissueImage

TILE = 224
"""Side of the tiles that models learned from, in pixels."""
MICRONS = 0.5
"""Micrometres per pixel of those tiles; what a picture of unknown scale is taken to have."""
SMALLEST = 64
LARGE_FROM = 1.5
"""A picture whose shorter side is this many times as long as a tile is looked at field by field."""


def is_large(image: TissueImage) -> bool:
    """Whether a model reads only a part of the picture at once."""
    return min(image.width, image.height) >= LARGE_FROM * TILE


def field_size(image: TissueImage) -> int:
    """Side of the field of view in pixels of the picture: as much tissue as on a tile the models learned from."""
    wanted = round(TILE * MICRONS / (image.microns_per_pixel or MICRONS))
    return max(SMALLEST, min(wanted, image.width, image.height))


def first_field(image: TissueImage) -> TissueImage:
    """What is read of a picture until somebody moves the field: all of a small one, the middle of a large one."""
    if not is_large(image):
        return image
    size = field_size(image)
    return image.tile((image.width - size) // 2, (image.height - size) // 2, size)
