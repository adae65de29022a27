"""The bag: what a picture becomes, and the one currency between pictures and learning."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from bag_generators.regions import Regions


@dataclass(frozen=True, eq=False)
class Bag:
    """n instances of one picture, each a feature vector and the region of the picture it describes.

    `generate(bag.generator, image, **bag.params)` on the same picture gives the same bag again.
    """

    features: np.ndarray
    """(n, d) float32, read-only."""
    regions: Regions
    generator: str
    params: Mapping[str, Any]
    """Every parameter of the generator with the value used; read-only."""
    feature_names: tuple[str, ...]
    """d names for a person."""
    image_sha256: str

    def __post_init__(self) -> None:
        n, d = self.features.shape
        if self.features.dtype != np.float32 or len(self.regions) != n or len(self.feature_names) != d:
            raise ValueError(
                f"a bag of {n}×{d} {self.features.dtype} does not fit {len(self.regions)} regions "
                f"and {len(self.feature_names)} feature names"
            )
        self.features.flags.writeable = False
        object.__setattr__(self, "params", MappingProxyType(dict(self.params)))

    def __len__(self) -> int:
        return len(self.features)

    def __reduce__(self) -> tuple[Any, ...]:
        # A read-only mapping can't travel between processes, a dict can; read-only arrays are made so again.
        about = self.generator, dict(self.params), self.feature_names, self.image_sha256
        return Bag, (self.features, self.regions, *about)
