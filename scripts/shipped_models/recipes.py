"""What each shipped model is made of; `python scripts/choose_recipes.py` compares ways on training tiles only."""

from dataclasses import dataclass, field
from typing import Any

from elimipl.config import Config

METHODS = ("elimipl", "demipl")
CLASSICAL = ("row", "sbn", "kmeansseg", "sift")
"""The generators of the paper."""


@dataclass(frozen=True)
class Recipe:
    """How the bags of a generator are made and learned from."""

    stain: str = "none"
    copies: int = 3
    settings: dict[str, Any] = field(default_factory=dict)

    def config(self, method: str, seed: int = 0) -> Config:
        """The training settings of a method; μ and γ are ELIMIPL's own and do not reach DEMIPL."""
        own = {} if method == "elimipl" else {"mu": 0.0, "gamma": 0.0}
        return Config.preset("default", method=method, seed=seed, **{**self.settings, **own})


SMALL = {
    "hidden": 64,
    "gate": "two",
    "gate_width": 64,
    "score": "linear",
    "lr": 0.1,
    "nesterov": True,
    "clip": 0.0,
    "batch": 128,
    "epochs": 40,
    "dropout": 0.3,
}
# Less weight on the conjugate labels: was a little better for Row on left-out pseudo-slides.
GENTLE = {**SMALL, "mu": 0.03, "gamma": 0.3}
# A wide embedding with larger steps, for KMeansSeg's few and short instances: see benchmarks/results/recipes.json.
WIDE = {
    **SMALL,
    "hidden": 512,
    "gate": "shared",
    "score": "mlp",
    "lr": 0.2,
    "dropout": 0.5,
    "mu": 0.1,
    "gamma": 1.0,
}

RECIPES: dict[tuple[str, str], Recipe] = {
    ("lesion5", "row"): Recipe("tones", copies=1, settings={**GENTLE}),
    ("lesion5", "sbn"): Recipe("tones", copies=1, settings={**GENTLE}),
    ("lesion5", "kmeansseg"): Recipe("tones", copies=1, settings={**WIDE}),
    ("lesion5", "sift"): Recipe("none", copies=1, settings={**GENTLE, "hidden": 128, "weight_decay": 1e-3}),
    ("tissue7", "row"): Recipe("none", copies=15, settings=GENTLE),
    ("tissue7", "sbn"): Recipe("none", copies=15, settings=GENTLE),
    ("tissue7", "kmeansseg"): Recipe("none", copies=15, settings={**WIDE}),
    ("tissue7", "sift"): Recipe("none", copies=15, settings=GENTLE),
}
