"""Bags of drawn tissue: seven classes, any number of bags, and it is known which instances carry the class."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from bag_generators import InputError, TissueImage, generate
from bag_generators.tissue.phantom import PHANTOM_KINDS, Phantom, draw, instance_truth
from bag_generators.tissue.quality import measure
from elimipl.data.crowd import uniform_false_positives
from elimipl.data.pictures import PHANTOM_SOURCE, PHANTOMS, pictures_of
from elimipl.dataset import BagDataset
from elimipl.labels import TISSUE7

MEASURED = 35
"""Phantoms that are drawn again for their pixel measures, some seconds of work; all of them would say hardly more."""
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
    total = per_class * len(PHANTOM_KINDS)
    if not 1 <= per_class <= SEEDS_APART // len(PHANTOM_KINDS):
        raise InputError(f"{per_class} phantoms of a class can't be drawn.", "Choose a number from 1.")
    bags, truths, labels, names = [], [], [], []
    for number in range(total):
        kind = TISSUE7.names[number // per_class]
        phantom = draw(kind, seed * SEEDS_APART + number)
        bag = generate(generator, TissueImage.from_array(phantom.pixels), **params)
        bags.append(bag)
        truths.append(instance_truth(bag, phantom.truth))
        labels.append(TISSUE7.index(kind))
        names.append(_name(phantom))
        if progress is not None:
            progress(number + 1, total)
    return BagDataset.from_bags(
        [bag.features for bag in bags],
        TISSUE7,
        labels,
        uniform_false_positives(labels, len(TISSUE7), r, seed),
        truths,
        generator=generator,
        params=dict(bags[0].params),
        names=tuple(names),
        source=f"{PHANTOM_SOURCE} (bag_generators.tissue.phantom), {per_class} a class, seed {seed}",
        licence="MIT",
    )


def redraw(name: str) -> Phantom:
    """The phantom a bag was made of, from the bag's name.

    >>> redraw("MUC phantom 3").kind
    'MUC'
    """
    kind, _, number = name.partition(" phantom ")
    if kind not in PHANTOM_KINDS or not number.isdecimal():
        raise InputError(f"“{name}” is not the name of a phantom.", "Give a name such as “TUM phantom 12”.")
    return draw(kind, int(number))


def phantom_qualities(dataset: BagDataset) -> tuple[dict[str, float], ...]:
    """Pixel measures of the phantoms behind a data set, drawn again; none for bags of anything else.

    Where there are many, `MEASURED` of them spread over the data set stand for all.
    """
    if pictures_of(dataset.generator, dataset.source) != PHANTOMS:
        return ()
    chosen = np.unique(np.linspace(0, len(dataset) - 1, MEASURED).round().astype(int))
    try:
        return tuple(dict(_quality(dataset.names[i])) for i in chosen)
    except InputError:  # somebody gave the bags other names: their pictures can't be drawn again
        return ()


@lru_cache(maxsize=2000)
def _quality(name: str) -> tuple[tuple[str, float], ...]:
    return tuple(measure(TissueImage.from_array(redraw(name).pixels)).numbers().items())


def _name(phantom: Phantom) -> str:
    return f"{phantom.kind} phantom {phantom.seed}"
