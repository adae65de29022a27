"""Every choice a training run depends on, in one frozen, validated object.

Three presets stand side by side: `paper` (the equations as printed), `published` (what the authors' research
code computes) and `default` (what measured best here). `method="demipl"` puts DEMIPL into the same frame.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from bag_generators.errors import InputError

CHOICES: dict[str, tuple[str, ...]] = {
    "method": ("elimipl", "demipl"),
    "preset": ("paper", "published", "default"),
    "extractor": ("identity", "context", "cnn"),
    "gate": ("two", "shared"),
    "score": ("linear", "mlp"),
    "pooling": ("softmax_scaled", "sigmoid_normalised"),
    "head": ("softmax", "softmax_of_sigmoid"),
    "mapping": ("momentum", "average"),
    "sparsity": ("l1", "entropy", "none"),
    "schedule": ("paper", "published"),
    "update": ("before_loss", "after_loss"),
    "scaling": ("none", "zscore", "robust", "global"),
    "dtype": ("float32", "float64"),
}

# name: (lowest, highest); both ends are allowed.
RANGES: dict[str, tuple[float, float]] = {
    "hidden": (1, 65536),
    "gate_width": (1, 65536),
    "dropout": (0, 0.95),
    "mu": (0, 1e6),
    "gamma": (0, 1e6),
    "attention_entropy": (0, 1e6),
    "epochs": (1, 1_000_000),
    "batch": (1, 1_000_000),
    "lr": (1e-9, 1e3),
    "momentum": (0, 0.9999),
    "weight_decay": (0, 1e3),
    "clip": (0, 1e6),
    "seed": (0, 2**31 - 1),
}

# The two ablation tables of the paper: what each variant changes in the full method.
VARIANTS: dict[str, dict[str, Any]] = {
    "MA": {"mu": 0.0, "gamma": 0.0},
    "MA+SP": {"gamma": 0.0},
    "MA+IN": {"mu": 0.0},
    "CE": {"mapping": "average", "mu": 0.0, "gamma": 0.0},
    "CE-SP-IN": {"mapping": "average"},
}


@dataclass(frozen=True)
class Config:
    """The settings of one training run. Start from a preset and change what you mean to change.

    >>> config = Config.preset("paper", epochs=20)
    >>> config.gate, config.head, config.epochs
    ('two', 'softmax', 20)
    >>> Config.preset("published").variant("MA+IN").mu
    0.0
    """

    method: str = "elimipl"
    preset_name: str = "default"

    extractor: str = "identity"
    """ψ1: `identity`; `context`, which adds mean and deviation of the bag; `cnn`, for square grey pictures (eq. 1)."""
    hidden: int = 512
    """l, the width of the embedding ψ2 (eq. 1)."""
    dropout: float = 0.0
    """Share of the embedding dropped while training, rounded to 1/256."""
    gate: str = "two"
    """`two`: W_t and W_s (eq. 2); `shared`: one matrix l → k for both."""
    gate_width: int = 64
    """Inner width of the two gates, which the paper leaves open; a shared gate has one unit a class."""
    score: str = "linear"
    """The map to ξ: `linear` (eq. 2) or `mlp`, k → 128 → ReLU → 1."""
    pooling: str = "softmax_scaled"
    """Attention: softmax of ξ/√l (eq. 3), or DEMIPL's `sigmoid_normalised`."""
    head: str = "softmax"
    """Class probabilities: `softmax`, or the authors' `softmax_of_sigmoid`."""

    mapping: str = "momentum"
    """Weights of eq. 5: moved by eq. 6 (`momentum`), or 1/|S| for ever (`average`: cross-entropy)."""
    schedule: str = "paper"
    """ρ at epoch t = 1..T: `paper` (T−t)/T, `published` (T−t+1)/T."""
    update: str = "before_loss"
    """Whether eq. 6 moves the weights before or after the loss of the same forward pass."""
    sparsity: str = "l1"
    """Surrogate of ‖p⊙s‖₀ (eq. 7): `l1`, or `entropy` of the probabilities renormalised on S."""
    mu: float = 10.0
    """Weight of the sparsity loss (eq. 9)."""
    gamma: float = 10.0
    """Weight of the inhibition loss (eq. 9)."""
    attention_entropy: float = 0.0
    """DEMIPL's λ_a: weight of −Σ a log a over the unnormalised attention."""

    scaling: str = "zscore"
    """Feature standardisation, fitted on the training bags only (`training.scaling`); `global` with a CNN."""
    epochs: int = 100
    batch: int = 64
    """Bags per step."""
    lr: float = 0.05
    cosine: bool = True
    """Anneal the learning rate along a half cosine over the epochs."""
    momentum: float = 0.9
    nesterov: bool = False
    weight_decay: float = 1e-4
    clip: float = 0.0
    """Longest gradient a step may follow (Euclidean norm over all parameters); 0 sets no limit."""
    seed: int = 0
    dtype: str = "float32"

    def __post_init__(self) -> None:
        for field in fields(self):
            _check_value(field.name, str(field.type), getattr(self, field.name))
        if self.method == "demipl" and self.pooling != "sigmoid_normalised":
            raise InputError(
                f"DEMIPL pools with sigmoid_normalised attention, but pooling is {self.pooling!r}.",
                "Remove the pooling setting or choose method 'elimipl'.",
            )
        if self.nesterov and self.momentum == 0:
            raise InputError("Nesterov steps need a momentum above 0.", "Set momentum=0.9 or nesterov=False.")

    @classmethod
    def preset(cls, name: str, **overrides: Any) -> Config:
        """The named preset with single settings changed; DEMIPL and the CNN bring settings of their own."""
        _check_choice("preset", name)
        _check_names(overrides)
        own: dict[str, Any] = {}
        for key, settings in (("method", _METHOD_SETTINGS), ("extractor", _EXTRACTOR_SETTINGS)):
            if key in overrides:
                _check_choice(key, overrides[key])
                own |= settings.get(overrides[key], {})
        return cls(**{**_PRESETS[name], **own, "preset_name": name, **overrides})

    def variant(self, name: str) -> Config:
        """This run as one of the paper's ablations: MA, MA+SP, MA+IN, CE or CE-SP-IN."""
        if name not in VARIANTS:
            raise InputError(f"There is no variant {name!r}.", f"Choose one of {', '.join(VARIANTS)}.")
        return self.replace(**VARIANTS[name])

    def replace(self, **changes: Any) -> Config:
        """A copy with some settings changed, validated again."""
        _check_names(changes)
        return replace(self, **changes)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Config:
        """The inverse of `to_dict`; settings that are missing take the values of the named preset."""
        _check_names(values)
        given = dict(values)
        return cls.preset(given.pop("preset_name", "default"), **given)

    def rho(self, epoch: int) -> float:
        """ρ^(t) of eq. 6 at epoch t = 1..T: how much of the old weights is kept."""
        kept = self.epochs - epoch + (1 if self.schedule == "published" else 0)
        return kept / self.epochs

    def learning_rate(self, epoch: int) -> float:
        """The step size of epoch t = 1..T."""
        if not self.cosine:
            return self.lr
        return 0.5 * self.lr * (1 + math.cos(math.pi * (epoch - 1) / self.epochs))


_PUBLISHED = {
    "gate": "shared",
    "score": "mlp",
    "head": "softmax_of_sigmoid",
    "dropout": 0.5,
    "schedule": "published",
    "update": "after_loss",
    "nesterov": True,
    "batch": 1,
    "lr": 0.01,
}
_DEFAULT = {
    "gate": "shared",
    "score": "mlp",
    "dropout": 0.5,
    "sparsity": "entropy",
    "mu": 0.1,
    "gamma": 1.0,
    "nesterov": True,
}
_PRESETS: dict[str, dict[str, Any]] = {"paper": {}, "published": _PUBLISHED, "default": _DEFAULT}
_METHOD_SETTINGS: dict[str, dict[str, Any]] = {
    "demipl": {
        "method": "demipl",
        "pooling": "sigmoid_normalised",
        "hidden": 500,
        "sparsity": "none",
        "mu": 0.0,
        "gamma": 0.0,
        "attention_entropy": 0.001,
    },
}
# Pixel by pixel, the few strokes that reach the margin of a picture would be a hundred deviations large.
_EXTRACTOR_SETTINGS: dict[str, dict[str, Any]] = {"cnn": {"scaling": "global"}}


def _check_names(values: Mapping[str, Any]) -> None:
    known = [field.name for field in fields(Config)]
    for name in values:
        if name not in known:
            near = difflib.get_close_matches(str(name), known, n=1)
            hint = f"Did you mean {near[0]!r}?" if near else f"The settings are {', '.join(known)}."
            raise InputError(f"There is no setting {name!r}.", hint)


def _check_choice(name: str, value: Any) -> None:
    if value not in CHOICES[name]:
        raise InputError(f"{name} can't be {value!r}.", f"Choose one of {', '.join(CHOICES[name])}.")


def _check_value(name: str, kind: str, value: Any) -> None:
    if name == "preset_name":
        _check_choice("preset", value)
    elif name in CHOICES:
        _check_choice(name, value)
    elif kind == "bool":
        if not isinstance(value, bool):
            raise InputError(f"{name} can't be {value!r}.", "Give True or False.")
    else:
        low, high = RANGES[name]
        number = isinstance(value, int) if kind == "int" else isinstance(value, int | float)
        if isinstance(value, bool) or not number or not low <= value <= high:
            noun = "a whole number" if kind == "int" else "a number"
            raise InputError(f"{name} can't be {value!r}.", f"Give {noun} from {low:g} to {high:g}.")
