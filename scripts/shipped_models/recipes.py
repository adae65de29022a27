"""What each shipped model is made of. Chosen by `python scripts/choose_recipes.py` on training tiles only."""

from dataclasses import dataclass, field
from typing import Any

from elimipl.config import Config

METHODS = ("elimipl", "demipl")


@dataclass(frozen=True)
class Recipe:
    """How the bags of a generator are made and learned from."""

    stain: str = "none"
    copies: int = 3
    settings: dict[str, Any] = field(default_factory=dict)

    def config(self, method: str, seed: int = 0) -> Config:
        """The training settings of a method; μ and γ are ELIMIPL's own and do not reach DEMIPL."""
        return Config.preset("default", method=method, seed=seed, **self.settings)


SMALL = {"hidden": 64, "gate": "two", "score": "linear", "lr": 0.1, "batch": 128, "epochs": 40, "dropout": 0.3}
CONTEXT = {**SMALL, "extractor": "context"}

RECIPES: dict[tuple[str, str], Recipe] = {
    ("lesion5", "row"): Recipe("tones", copies=1, settings=CONTEXT),
    ("lesion5", "sbn"): Recipe("tones", copies=1, settings=CONTEXT),
    ("lesion5", "kmeansseg"): Recipe("density", copies=1, settings=CONTEXT),
    ("lesion5", "sift"): Recipe("none", copies=1, settings={**SMALL, "hidden": 128}),
    ("tissue7", "row"): Recipe("none", copies=15, settings=SMALL),
    ("tissue7", "sbn"): Recipe("none", copies=15, settings=SMALL),
    ("tissue7", "kmeansseg"): Recipe("none", copies=15, settings=SMALL),
    ("tissue7", "sift"): Recipe("none", copies=15, settings=SMALL),
}
