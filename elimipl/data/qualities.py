"""Pixel measures of the pictures behind bags, which hold no pixels: of the sets that ship, and of phantoms.

`scripts/make_bag_sets.py` keeps those of the shipped sets in assets/bags/qualities.json; other phantoms are drawn
again.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np
from pydantic import model_validator

from bag_generators.errors import InputError
from bag_generators.tissue.quality import ASSUMED_MICRONS_PER_PIXEL, kept_scale
from bag_generators.validation import Record, read_json, validated
from elimipl.data.phantoms import phantom_quality
from elimipl.data.pictures import FIELD, PHANTOMS, PIXEL_MEASURES, pictures_of
from elimipl.data.shipped import BAGS_FOLDER, REPAIR
from elimipl.dataset import BagDataset

QUALITIES_FILE = "qualities.json"
DRAWN_AGAIN = 35
"""Phantoms that are drawn again, some seconds of work; all of them would say hardly more."""


class Qualities(Record):
    """The measures of every source picture of the shipped sets, by the name of its bag."""

    measures: tuple[str, ...]
    pictures: Mapping[str, tuple[float, ...]]

    @model_validator(mode="after")
    def _whole(self) -> Qualities:
        if not set(self.measures) >= PIXEL_MEASURES:
            raise ValueError("a measure is missing")
        if any(len(values) != len(self.measures) for values in self.pictures.values()):
            raise ValueError("a picture has too many or too few measures")
        return self


def picture_qualities(originals: BagDataset) -> tuple[dict[str, float], ...]:
    """The pixel measures of the pictures behind untouched bags; none where nobody kept them."""
    try:
        kept = _shipped()
    except InputError:  # limits are worth having, but a training is not lost for want of them
        kept = {}
    if all(name in kept for name in originals.names):
        return tuple(_as_seen_by(originals.generator, kept[name]) for name in originals.names)
    if pictures_of(originals.generator, originals.source) != PHANTOMS:
        return ()
    chosen = np.unique(np.linspace(0, len(originals) - 1, DRAWN_AGAIN).round().astype(int))
    try:
        return tuple(phantom_quality(originals.names[i], originals.generator) for i in chosen)
    except InputError:  # somebody gave the bags other names: their pictures can't be drawn again
        return ()


def _as_seen_by(generator: str, tile: Mapping[str, float]) -> dict[str, float]:
    """The measures of a tile of 224 px, which working copy and window at the assumed scale share, and its field."""
    if kept_scale(generator) is None:
        return dict(tile)
    return {**tile, FIELD: tile["shorter_side"] * ASSUMED_MICRONS_PER_PIXEL}


@lru_cache(maxsize=1)
def _shipped() -> dict[str, dict[str, float]]:
    called = f"The list of pixel measures “{QUALITIES_FILE}”"
    table = validated(Qualities, read_json(BAGS_FOLDER / QUALITIES_FILE, called, REPAIR), called, REPAIR)
    return {name: dict(zip(table.measures, values, strict=True)) for name, values in table.pictures.items()}
