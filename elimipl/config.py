"""Every choice a training run depends on, in one frozen, validated object.

Three presets stand side by side: `paper` (the equations as printed), `published` (what the authors' research
code computes) and `default` (what measured best here). `method="demipl"` puts DEMIPL into the same frame, and so do the
names of methods since (docs/methods.md).
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Mapping
from typing import Any, Literal, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bag_generators.base.errors import InputError
from elimipl.registries import CLI, POOLING, check_attention, check_loss

PRESETS = ("paper", "published", "default")
RARE: dict[str, Any] = {"rare": True}
"""`json_schema_extra` of a setting that is only written down where it isn't the usual one: older files lack it."""
NAME = r"^( |[^\p{C}\p{Z}]){1,100}$"
"""`pattern` of a setting that names something which may be registered later.

A model stays readable where what it was trained with isn't installed.
"""
TEMPERATURE_FALLS = 0.95
"""What is left of MIPLMA's temperature after every epoch."""
_ATTENTIONS = {"dam": "sigmoid_normalised", "sam": "softmax_scaled", "mam": "softmax_standardised"}
_CDL = tuple(f"cdl-{attention}-{phi}" for attention in _ATTENTIONS for phi in ("cc", "cn"))


class Settings(BaseModel):
    """What every method has: a seed, and the ways to make, change and store its settings, frozen and validated.

    A method declares its own in a class that inherits this one, with pydantic's `Field` and `Literal` for what a
    setting may be; what makes no sense is refused with a sentence.

    >>> class Example(Settings):
    ...     epochs: int = Field(10, ge=1, le=100)
    >>> Example.of(epochs=20).replace(seed=3).to_dict()
    {'seed': 3, 'epochs': 20}
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    seed: int = Field(0, ge=0, le=2**31 - 1)

    def __init__(self, **settings: Any) -> None:
        try:
            super().__init__(**settings)
        except ValidationError as error:
            raise self._refusal(error) from None

    @classmethod
    def of(cls, **settings: Any) -> Self:
        """The method's own settings with some changed; a name that doesn't exist is refused."""
        return cls(**settings)

    @property
    def trainer(self) -> Callable[..., Any]:
        """What trains with settings of this kind: `fit(dataset, config, *, device)`."""
        raise InputError(
            f"Settings of the kind {type(self).__name__} don't say what trains with them.",
            "Give fit=METHODS[name].fit, too.",
        )

    def replace(self, **changes: Any) -> Self:
        """A copy with some settings changed, validated again."""
        return type(self)(**{**dict(self), **changes})

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        kinds = type(self).model_fields
        return {
            name: value
            for name, value in dict(self).items()
            if kinds[name].json_schema_extra != RARE or value != kinds[name].default
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """The inverse of `to_dict`; settings that are missing take their usual values."""
        return cls.of(**values)

    @classmethod
    def choices(cls, name: str) -> tuple[str, ...]:
        """The words that a setting may be, its usual one first."""
        return get_args(cls.model_fields[name].annotation)

    @classmethod
    def _refusal(cls, error: ValidationError) -> InputError:
        """The first thing that is wrong, in a sentence; an unknown name before all values."""
        found = error.errors(include_url=False)
        wrong = next((one for one in found if one["type"] == "extra_forbidden"), found[0])
        name, known = str(wrong["loc"][0]), list(cls.model_fields)
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"Did you mean {near[0]!r}?" if near else f"The settings are {', '.join(known)}."
            return InputError(f"There is no setting {name!r}.", hint)
        kind = cls.model_fields[name]
        limits = {key: getattr(one, key) for one in kind.metadata for key in ("ge", "le") if hasattr(one, key)}
        if limits:
            noun = "a whole number" if kind.annotation is int else "a number"
            hint = f"Give {noun} from {limits['ge']:g} to {limits['le']:g}."
        elif kind.annotation in (bool, str):
            hint = "Give True or False." if kind.annotation is bool else "Give a name of 1 to 100 characters."
        else:
            hint = f"Choose one of {', '.join(cls.choices(name))}."
        return InputError(f"{name} can't be {wrong['input']!r}.", hint)


class Config(Settings):
    """The settings of one training run. Start from a preset and change what you mean to change.

    >>> config = Config.preset("paper", epochs=20)
    >>> config.gate, config.head, config.epochs
    ('two', 'softmax', 20)

    A preset's learning rate belongs to its batch. Smaller steps of fewer bags follow by themselves:

    >>> Config.preset("default", batch=16).lr / Config.preset("default").lr
    0.25
    """

    method: Literal[
        "elimipl", "demipl", "elimipl-unscaled", "elimipl-kept", "dam-cli", "miplma", "miplma-batch", "abmil",
        "cdl-dam-cc", "cdl-dam-cn", "cdl-sam-cc", "cdl-sam-cn", "cdl-mam-cc", "cdl-mam-cn",
    ] = "elimipl"  # fmt: skip
    preset_name: Literal["default", "paper", "published"] = "default"

    extractor: Literal["identity", "context", "cnn"] = "identity"
    """ψ1: `identity`; `context`, which adds mean and deviation of the bag; `cnn`, for square pictures (eq. 1)."""
    extractor_every: int = Field(1, ge=1, le=1_000_000, json_schema_extra=RARE)
    """ψ1 is trained in epoch 1 and every so many epochs after it; in between the rest learns from kept features."""
    hidden: int = Field(512, ge=1, le=65536)
    """l, the width of the embedding ψ2 (eq. 1)."""
    dropout: float = Field(0.0, ge=0, le=0.95)
    """Share of the embedding dropped while training, rounded to 1/256."""
    gate: Literal["two", "shared"] = "two"
    """`two`: W_t and W_s (eq. 2); `shared`: one matrix l → k for both."""
    gate_width: int = Field(64, ge=1, le=65536)
    """Inner width of the two gates, which the paper leaves open; a shared gate has one unit per class."""
    score: Literal["linear", "mlp"] = "linear"
    """The map to ξ: `linear` (eq. 2) or `mlp`, k → 128 → ReLU → 1."""
    pooling: Literal["softmax_scaled", "sigmoid_normalised", "softmax_standardised", "softmax"] = "softmax_scaled"
    """Attention: softmax of ξ/√l (eq. 3); DEMIPL's `sigmoid_normalised`; MIPLMA's, of ξ standardised in its bag and
    divided by √l and a falling temperature; or the plain `softmax` of ξ."""
    temperature: float = Field(5.0, ge=1e-3, le=1e3, json_schema_extra=RARE)
    """τ⁰ of MIPLMA's attention; .95 of it is left after every epoch."""
    least_temperature: float = Field(0.1, ge=1e-3, le=1e3, json_schema_extra=RARE)
    """Where τ stops falling."""
    attention: str = Field(POOLING, pattern=NAME, json_schema_extra=RARE)
    """`pooling`: what the setting of that name says; or the name of a registered attention in its place."""
    head: Literal["softmax", "softmax_of_sigmoid"] = "softmax"
    """Class probabilities: `softmax`, or the authors' `softmax_of_sigmoid`."""

    mapping: Literal["momentum", "average"] = "momentum"
    """Weights of eq. 5: moved by eq. 6 (`momentum`), or 1/|S| for ever (`average`: cross-entropy)."""
    schedule: Literal["paper", "published"] = "paper"
    """ρ at epoch t = 1..T: `paper` (T−t)/T, `published` (T−t+1)/T."""
    update: Literal["before_loss", "after_loss"] = "before_loss"
    """Whether eq. 6 moves the weights before or after the loss of the same forward pass."""
    sparsity: Literal["l1", "entropy", "none"] = "l1"
    """Surrogate of ‖p⊙s‖₀ (eq. 7): `l1`, or `entropy` of the probabilities renormalised on S."""
    mu: float = Field(10.0, ge=0, le=1e6)
    """Weight of the sparsity loss (eq. 9)."""
    gamma: float = Field(10.0, ge=0, le=1e6)
    """Weight of the inhibition loss (eq. 9)."""
    attention_entropy: float = Field(0.0, ge=0, le=1e6)
    """DEMIPL's λ_a: weight of −Σ a log a over the unnormalised attention."""
    loss: str = Field(CLI, pattern=NAME, json_schema_extra=RARE)
    """`cli`, the conjugate label information of eq. 9; `cdl-cc`, `cdl-cn`, `margin` or `margin-batch` of the methods
    since; or the name of a registered loss in its place."""
    focus: float = Field(1.0, ge=0, le=10, json_schema_extra=RARE)
    """γ of CDL: how strongly the margin of a bag scales its loss; 0 not at all."""
    margin: float = Field(1.0, ge=0, le=1e6, json_schema_extra=RARE)
    """λ of MIPLMA: weight of the margin loss."""
    labels: Literal["candidates", "true"] = Field("candidates", json_schema_extra=RARE)
    """What is learned from: candidate sets, or the `true` labels as the reference with nothing hidden (ABMIL)."""

    scaling: Literal["zscore", "none", "robust", "global"] = "zscore"
    """Feature standardisation, fitted on the training bags only (`model.scaling`); `global` with a CNN."""
    epochs: int = Field(100, ge=1, le=1_000_000)
    batch: int = Field(64, ge=1, le=1_000_000)
    """Bags per step."""
    lr: float = Field(0.05, ge=1e-9, le=1e3)
    """Learning rate; given as a number it is taken as it is, whatever the batch."""
    cosine: bool = True
    """Anneal the learning rate along a half cosine over the epochs."""
    momentum: float = Field(0.9, ge=0, le=0.9999)
    nesterov: bool = False
    weight_decay: float = Field(1e-4, ge=0, le=1e3)
    clip: float = Field(0.0, ge=0, le=1e6)
    """Longest gradient a step may follow (Euclidean norm over all parameters); 0 sets no limit."""
    dtype: Literal["float32", "float64"] = "float32"
    amp: bool = Field(False, json_schema_extra=RARE)
    """Train with products of bfloat16 numbers where the network is wide; everything else stays as wide as `dtype`."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        for name in ("pooling", "loss", "labels"):
            own = _METHOD_SETTINGS.get(self.method, {}).get(name)
            if own is not None and getattr(self, name) != own:
                raise InputError(
                    f"{self.method.upper()} has {name}={own!r}, but {name} is {getattr(self, name)!r}.",
                    f"Remove the {name} setting or choose method 'elimipl'.",
                )
        if self.nesterov and self.momentum == 0:
            raise InputError("Nesterov steps need a momentum above 0.", "Set momentum=0.9 or nesterov=False.")

    @property
    def trainer(self) -> Callable[..., Any]:
        """The training loop of the network."""
        from elimipl.training.loop import fit  # loads torch

        return fit

    @classmethod
    def preset(cls, name: str, **overrides: Any) -> Config:
        """The named preset with single settings changed; methods and the CNN bring settings of their own.

        With a smaller `batch` and no `lr` the preset's learning rate falls in proportion: at the full rate, steps of
        single bags break down.
        """
        if "loss" in overrides:
            check_loss(overrides["loss"])
        if "attention" in overrides:
            check_attention(overrides["attention"])
        return cls._from_preset(name, overrides)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Config:
        """The inverse of `to_dict`; settings that are missing take the values of the named preset."""
        given = dict(values)
        return cls._from_preset(given.pop("preset_name", "default"), given)

    @classmethod
    def _from_preset(cls, name: str, overrides: Mapping[str, Any]) -> Config:
        if name not in PRESETS:
            raise InputError(f"preset can't be {name!r}.", f"Choose one of {', '.join(PRESETS)}.")
        own: dict[str, Any] = {}
        for key, settings in (("method", _METHOD_SETTINGS), ("extractor", _EXTRACTOR_SETTINGS)):
            own |= settings.get(str(overrides.get(key)), {})
        batch = overrides.get("batch")
        if isinstance(batch, int) and "lr" not in overrides:
            usual = cls(**_PRESETS[name])
            own["lr"] = usual.lr * (min(max(batch, 1), usual.batch) / usual.batch)
        return cls(**{**_PRESETS[name], **own, "preset_name": name, **overrides})

    def rho(self, epoch: int) -> float:
        """ρ^(t) of eq. 6 at epoch t = 1..T: how much of the old weights is kept."""
        kept = self.epochs - epoch + (1 if self.schedule == "published" else 0)
        return kept / self.epochs

    def tau(self, epoch: int) -> float:
        """τ^(t) of MIPLMA's attention at epoch t = 1..T: max(τ_m, .95 τ^(t−1))."""
        return max(self.least_temperature, self.temperature * TEMPERATURE_FALLS**epoch)

    def trains_extractor(self, epoch: int) -> bool:
        """Whether ψ1 moves in epoch t = 1..T."""
        return (epoch - 1) % self.extractor_every == 0

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
_NO_CLI: dict[str, Any] = {"sparsity": "none", "mu": 0.0, "gamma": 0.0}
_METHOD_SETTINGS: dict[str, dict[str, Any]] = {
    "demipl": {"pooling": "sigmoid_normalised", "hidden": 500, "attention_entropy": 0.001, **_NO_CLI},
    "elimipl-unscaled": {"pooling": "softmax"},
    "elimipl-kept": {"extractor_every": 4},
    "dam-cli": {"pooling": "sigmoid_normalised"},
    "miplma": {"pooling": "softmax_standardised", "loss": "margin", **_NO_CLI},
    "miplma-batch": {"pooling": "softmax_standardised", "loss": "margin-batch", "batch": 32, "lr": 0.2, **_NO_CLI},
    **{
        name: {"pooling": _ATTENTIONS[name[4:7]], "loss": f"cdl-{name[8:]}", "head": "softmax", **_NO_CLI}
        for name in _CDL
    },
    "abmil": {
        "labels": "true",
        "pooling": "softmax",
        "gate": "two",
        "gate_width": 128,
        "score": "linear",
        "head": "softmax",
        **_NO_CLI,
    },
}
# Pixel by pixel, the few strokes that reach the margin of a picture would be a hundred deviations large.
_EXTRACTOR_SETTINGS: dict[str, dict[str, Any]] = {"cnn": {"scaling": "global"}}
