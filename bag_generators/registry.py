"""The generators by name, and the one way to run them.

A new generator is one new file with a function and feature names, and one entry here.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from bag_generators.bag import Bag
from bag_generators.errors import InputError
from bag_generators.generators import kmeansseg, row, sbn, sift
from bag_generators.generators.working_size import working_copy
from bag_generators.image import TissueImage
from bag_generators.regions import Regions
from bag_generators.tissue import stain


@dataclass(frozen=True)
class Generator:
    """One way to turn a picture into a bag, with what a person needs to choose it."""

    name: str
    title: str
    summary: str
    feature_names: tuple[str, ...]
    function: Callable[..., tuple[np.ndarray, Regions]]
    """(working copy 224×224×3 uint8, (H, W) of the picture, **own parameters) → features (n, d), regions."""
    defaults: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({"stain": "none"}))
    """Every parameter `generate` takes with its default; the function gets them all but `stain`."""


GENERATORS: Mapping[str, Generator] = MappingProxyType(
    {
        generator.name: generator
        for generator in (
            Generator(
                "row", "Row",
                "8 horizontal bands: their colour, and how it differs from the bands above and below.",
                row.FEATURE_NAMES, row.row,
            ),
            Generator(
                "sbn", "SBN",
                "9 overlapping blobs of the central half: their colour, and how four neighbours differ.",
                sbn.FEATURE_NAMES, sbn.sbn,
            ),
            Generator(
                "kmeansseg", "KMeansSeg",
                "The picture's own segments: blocks of similar colour and texture, found by k-means.",
                kmeansseg.FEATURE_NAMES, kmeansseg.kmeansseg,
            ),
            Generator(
                "sift", "SIFT",
                "A 5×5 grid of upright SIFT descriptors: which way edges run around each point, no colour.",
                sift.FEATURE_NAMES, sift.sift,
            ),
        )
    }
)  # fmt: skip


def generate(name: str, image: TissueImage, **params: Any) -> Bag:
    """Turn a picture into a bag with the generator called `name`.

    `stain` ("none" is the paper's way) names a stain normalisation applied first; see `bag_generators.tissue.stain`.
    """
    generator = GENERATORS.get(name)
    if generator is None:
        raise InputError(f"There is no generator called {name!r}.", f"Choose one of {_listed(GENERATORS)}.")
    if unknown := params.keys() - generator.defaults.keys():
        raise InputError(
            f"The generator {name!r} has no parameter {_listed(sorted(unknown))}.",
            f"It takes {_listed(generator.defaults)}.",
        )
    chosen = {**generator.defaults, **params}
    own = {key: value for key, value in chosen.items() if key != "stain"}
    working = stain.normalise(working_copy(image.pixels), chosen["stain"])
    features, regions = generator.function(working, (image.height, image.width), **own)
    names = tuple(stain.channel_name(feature, chosen["stain"]) for feature in generator.feature_names)
    return Bag(features, regions, name, chosen, names, image.sha256)


def _listed(names: Mapping[str, Any] | list[str]) -> str:
    return ", ".join(repr(name) for name in names)
