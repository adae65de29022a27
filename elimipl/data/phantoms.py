"""Bags of drawn tissue: seven classes, any number of bags, and it is known which instances carry the class."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bag_generators import InputError, TissueImage, generate
from bag_generators.tissue.phantom import PHANTOM_KINDS, Phantom, draw, instance_truth
from bag_generators.tissue.quality import measure_for
from elimipl.data.crowd import uniform_false_positives
from elimipl.data.pictures import PHANTOM_SOURCE
from elimipl.dataset import BagDataset
from elimipl.labels import TISSUE7

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
