"""Bags of drawn tissue, and the bag sets that come with the project, so that training works without pictures.

`scripts/make_bag_sets.py` makes them; `bags.json` beside them says what each one is and where it is from,
`qualities.json` has the pixel measures of the pictures behind the bags, which hold no pixels.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from bag_generators import GENERATORS, InputError, TissueImage, generate
from bag_generators.base.assets import asset_sha256, assets
from bag_generators.base.validation import Record, Sha256, read_json, validated
from bag_generators.tissue.phantom import PHANTOM_KINDS, Phantom, draw, instance_truth
from bag_generators.tissue.quality import ASSUMED_MICRONS_PER_PIXEL, kept_scale, measure_for
from elimipl.candidates.crowd import uniform_false_positives
from elimipl.candidates.labels import TISSUE7
from elimipl.datasets.dataset import BagDataset
from elimipl.datasets.pictures import FIELD, PHANTOM_SOURCE, PHANTOMS, pictures_of

SEEDS_APART = 1_000_000  # phantoms of two data sets never share a background below this many bags


def build_phantoms(
    generator: str,
    *,
    per_class: int = 30,
    r: int = 1,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
    **params: Any,
) -> BagDataset:
    """Draw `per_class` phantoms of every tissue and make their bags, with r false positive labels each.

    Every bag has a background of its own. The bag's name (`TUM phantom 12`) says how to draw its picture again,
    see `redraw`. `progress` is called with the number of phantoms drawn and of all.
    """
    named = phantom_names(per_class, seed)
    bags, truths, labels = [], [], []
    for number, name in enumerate(named, start=1):
        phantom = redraw(name)
        bag = generate(generator, TissueImage.from_array(phantom.pixels), **params)
        bags.append(bag)
        truths.append(instance_truth(bag, phantom.truth))
        labels.append(TISSUE7.index(phantom.kind))
        if progress is not None:
            progress(number, len(named))
    return BagDataset.from_bags(
        [bag.features for bag in bags],
        TISSUE7,
        labels,
        uniform_false_positives(labels, len(TISSUE7), r, seed),
        truths,
        generator=generator,
        params=dict(bags[0].params),
        names=named,
        source=f"{PHANTOM_SOURCE} (bag_generators.tissue.phantom), {per_class} per class, seed {seed}",
        licence="MIT",
    )


def phantom_names(per_class: int, seed: int) -> tuple[str, ...]:
    """The names of `per_class` phantoms of every tissue; with another seed they are all others."""
    if not 1 <= per_class <= SEEDS_APART // len(PHANTOM_KINDS):
        raise InputError(f"{per_class} phantoms of a class can't be drawn.", "Choose a number from 1.")
    first = seed * SEEDS_APART
    return tuple(f"{TISSUE7.names[i // per_class]} phantom {first + i}" for i in range(per_class * len(PHANTOM_KINDS)))


def redraw(name: str) -> Phantom:
    """The phantom a bag was made of, from the bag's name.

    >>> redraw("MUC phantom 3").kind
    'MUC'
    """
    kind, _, number = name.partition(" phantom ")
    if kind not in PHANTOM_KINDS or not number.isdecimal():
        raise InputError(f"“{name}” is not the name of a phantom.", "Give a name such as “TUM phantom 12”.")
    return draw(kind, int(number))


def phantom_quality(name: str, generator: str = "") -> dict[str, float]:
    """The pixel measures of the phantom that a bag was made of, as a generator sees it (usually: its working copy)."""
    return measure_for(generator, TissueImage.from_array(redraw(name).pixels)).numbers()


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
