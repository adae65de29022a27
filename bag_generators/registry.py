"""The generators by name, and the one way to run them.

A new generator of this project is one new file with a `GENERATOR`, and one line here. Those of others come by
`register`, or by themselves from installed packages that name them in the entry points `bag_generators.generators`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import cv2
import numpy as np

from bag_generators.base.errors import InputError
from bag_generators.base.formats import MAX_PIXELS
from bag_generators.base.plugins import Registry
from bag_generators.base.pool import importable_name
from bag_generators.generator import Bag, Generator, Step
from bag_generators.generators import deep, kmeansseg, row, sbn, sift
from bag_generators.image import TissueImage
from bag_generators.tissue import stain

_SAME_SCALE = 0.03
"""Scales that differ by less are the same: scanners round them."""
PLUG_INS = "bag_generators.generators"
"""The group of entry points; each leads to a `Generator`."""


def _checked(generator: Any) -> Generator:
    if not isinstance(generator, Generator):
        raise InputError(f"{generator!r} is not a generator.", "Give a bag_generators.Generator.")
    for known in GENERATORS.values():
        if generator.title == known.title:
            raise InputError(
                f"There already is a generator {known.name!r} with the title {known.title!r}.",
                "Choose another name and another title.",
            )
    return generator


_OWN = (row.GENERATOR, sbn.GENERATOR, kmeansseg.GENERATOR, sift.GENERATOR, deep.GENERATOR)
GENERATORS: Registry[Generator] = Registry("generator", PLUG_INS, ((own.name, own) for own in _OWN), _checked)
"""All known generators by name, in the order they came."""


def register(generator: Generator) -> Generator:
    """Make a generator known to this program: to commands, pages and processes that are started for it."""
    GENERATORS.register(generator.name, generator)
    return generator


def unregister(name: str) -> None:
    """Forget a generator that was registered."""
    GENERATORS.unregister(name)


def recipe_of(name: str) -> Generator | None:
    """The generator called `name` to be sent to a worker process; None where that could not import its function."""
    generator = _named(name)
    return None if importable_name(generator.function) is None else generator


def register_again(recipe: Generator) -> str:
    """Make a generator of the caller known in a worker process, unless it is; returns its name."""
    if recipe.name not in GENERATORS:
        register(recipe)
    return recipe.name


def generate(name: str, image: TissueImage, /, **params: Any) -> Bag:
    """Turn a picture into a bag with the generator called `name`.

    `stain` ("none" is the paper's way) names a stain normalisation applied first; see `bag_generators.tissue.stain`.
    """
    generator = _named(name)
    if unknown := params.keys() - generator.defaults.keys():
        raise InputError(
            f"The generator {name!r} has no parameter {_listed(sorted(unknown))}.",
            f"It takes {_listed(generator.defaults)}.",
        )
    chosen = {**generator.defaults, **params}
    own = {key: value for key, value in chosen.items() if key != "stain"}
    seen = _seen(generator, image, chosen["stain"])
    features, regions = generator.function(seen, (image.height, image.width), **own)
    names = tuple(stain.channel_name(feature, chosen["stain"]) for feature in generator.feature_names)
    return Bag(np.asarray(features, np.float32), regions, name, chosen, names, image.sha256)


def steps_of(image: TissueImage, bag: Bag, instance: int) -> Sequence[Step]:
    """How an instance of a picture's bag came about."""
    generator = _named(bag.generator)
    return generator.steps(_seen(generator, image, str(bag.params["stain"])), bag, instance)


def _seen(generator: Generator, image: TissueImage, stain_method: str) -> np.ndarray:
    return stain.normalise(
        _at_scale(generator, image) if generator.sees == "original" else image.working_copy, stain_method
    )


def _at_scale(generator: Generator, image: TissueImage) -> np.ndarray:
    """The picture's own pixels, resampled where both its scale and the generator's are known and differ."""
    if generator.microns_per_pixel is None or image.microns_per_pixel is None:
        return image.pixels
    factor = image.microns_per_pixel / generator.microns_per_pixel
    if abs(factor - 1) <= _SAME_SCALE:
        return image.pixels
    size = max(1, round(image.width * factor)), max(1, round(image.height * factor))
    if size[0] * size[1] > MAX_PIXELS:
        raise InputError(
            f"At {generator.microns_per_pixel:g} µm per pixel the picture would measure {size[0]:,}×{size[1]:,} px.",
            "Cut a smaller part of it, or check its scale.",
        )
    way = cv2.INTER_AREA if factor < 1 else cv2.INTER_LINEAR
    return np.asarray(cv2.resize(image.pixels, size, interpolation=way))


def _named(name: str) -> Generator:
    generator = GENERATORS.get(name)
    if generator is None:
        raise InputError(f"There is no generator called {name!r}.", f"Choose one of {_listed(GENERATORS)}.")
    return generator


def _listed(names: Mapping[str, Any] | list[str]) -> str:
    return ", ".join(repr(name) for name in names)
