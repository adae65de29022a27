"""The bag sets that come with the project, so that training works without pictures, and what theirs measure.

`scripts/make_bag_sets.py` makes them; `bags.json` beside them says what each one is and where it is from,
`qualities.json` has the pixel measures of the pictures behind the bags, which hold no pixels.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

import numpy as np

from bag_generators import GENERATORS
from bag_generators.assets import asset_sha256, assets
from bag_generators.errors import InputError
from bag_generators.tissue.quality import ASSUMED_MICRONS_PER_PIXEL, kept_scale
from bag_generators.validation import Record, Sha256, read_json, validated
from elimipl.data.phantoms import phantom_quality
from elimipl.data.pictures import FIELD, PHANTOMS, pictures_of
from elimipl.dataset import BagDataset

BAGS_FOLDER = assets("bags")
QUALITIES_FILE = "qualities.json"
DRAWN_AGAIN = 35
"""Phantoms that are drawn again to measure them, some seconds of work; all of them would say hardly more."""
_REPAIR = "Restore it with “git checkout -- assets/bags”, or make it anew with scripts/make_bag_sets.py."


class BagSet(Record):
    """One shipped file of bags; the fields are those of its entry in `bags.json`."""

    id: str
    file: str
    title: str
    generator: str
    bags: int
    copies: int
    """Augmented copies a source picture, itself included."""
    counts: Mapping[str, int]
    """Source pictures of each class."""
    pictures: tuple[str, ...]
    """Names of the source pictures in the published data set; empty for drawn ones."""
    source: str
    licence: str
    sha256: Sha256


def bag_sets(folder: Path = BAGS_FOLDER) -> dict[str, BagSet]:
    """The shipped sets by id, in the order of `bags.json`."""
    called = "The list of bag sets “bags.json”"
    sets = validated(tuple[BagSet, ...], read_json(folder / "bags.json", called, _REPAIR), called, _REPAIR)
    return {entry.id: entry for entry in sets}


def load_bag_set(name: str) -> BagDataset:
    """The shipped bags with this id, such as tissue7-sbn; ids are looked up, never made into a path."""
    sets = bag_sets()
    if name not in sets:
        raise InputError(f"There is no bag set “{name}”.", f"Choose one of: {', '.join(sets)}.")
    return BagDataset.load(BAGS_FOLDER / sets[name].file, sets[name].file)


def generator_files(name: str) -> dict[str, str]:
    """The sha256 of each file below `assets` that a generator computes with; none for most, and for unknown ones."""
    files = GENERATORS[name].files if name in GENERATORS else ()
    return {file: found for file in files if (found := asset_sha256(file)) is not None}


def picture_qualities(originals: BagDataset) -> tuple[dict[str, float], ...]:
    """The pixel measures of the pictures behind untouched bags; phantoms are drawn again, others are unknown."""
    kept = _kept_qualities()
    if all(name in kept for name in originals.names):
        measured = [kept[name] for name in originals.names]
        if kept_scale(originals.generator) is None:
            return tuple(measured)
        # A tile of 224 px: working copy and window at the assumed scale share all but its field.
        return tuple({**tile, FIELD: tile["shorter_side"] * ASSUMED_MICRONS_PER_PIXEL} for tile in measured)
    if pictures_of(originals.generator, originals.source) != PHANTOMS:
        return ()
    chosen = np.unique(np.linspace(0, len(originals) - 1, DRAWN_AGAIN).round().astype(int))
    try:
        return tuple(phantom_quality(originals.names[i], originals.generator) for i in chosen)
    except InputError:  # somebody gave the bags other names: their pictures can't be drawn again
        return ()


@lru_cache(maxsize=1)
def _kept_qualities() -> dict[str, dict[str, float]]:
    try:
        table = json.loads((BAGS_FOLDER / QUALITIES_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):  # limits are worth having, but a training is not lost for want of them
        return {}
    return {name: dict(zip(table["measures"], values, strict=True)) for name, values in table["pictures"].items()}
