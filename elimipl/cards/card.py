"""What is known about a trained model, kept beside its weights as `<id>.json` and readable by anybody.

A card says what the model reads (generator, parameters, dimension), what it answers (label space), what it
learned from, with which settings, how well it does on what, and which weights file belongs to it (sha256).
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from bag_generators.base.errors import InputError, shown_name
from bag_generators.base.validation import STRICT, Count, Positive, Sha256, Share, Whole, plain, read_json, validated
from elimipl.candidates.labels import LabelSpace
from elimipl.cards.calibration import Calibration, Reliability
from elimipl.cards.conformal import Conformal
from elimipl.cards.limits import Limits
from elimipl.datasets.pictures import PHANTOMS, Pictures, pictures_of

SIGNS = ("certainty", "margin", "agreement", "near", "nearest_alike", "others_away", "style")
"""What the chance depends on; see `elimipl.answers.acceptance.signs`."""
_PerSign = Annotated[tuple[float, ...], Field(min_length=len(SIGNS), max_length=len(SIGNS))]


@dataclass(frozen=True)
class Kept:
    """What became of n pictures: shares of all of them."""

    __pydantic_config__ = STRICT

    n: Whole
    right: float
    trusted: float
    trusted_wrong: float


@dataclass(frozen=True)
class Acceptance:
    """The chance of being right is 1/(1 + exp(−(intercept + Σ weight·(sign − shift)/scale))).

    A model is as sure of itself on a stranger's pictures as on its own, so its probability alone says little there.
    This is a logistic regression of a few signs of the bag, fitted on sources that the models behind it had not seen.
    """

    __pydantic_config__ = STRICT

    weights: _PerSign
    shifts: _PerSign
    scales: Annotated[tuple[Positive, ...], Field(min_length=len(SIGNS), max_length=len(SIGNS))]
    intercept: float
    limit: Share
    """The lowest chance with which an answer is trusted."""
    pictures: Whole
    """Rows of the table of known bags in the weights file."""
    fitted_on: str
    left_out: Mapping[str, Kept]
    """By source: what a model without it, judged by what was fitted without it, did on it."""

    def chance(self, signs: tuple[float, ...]) -> float:
        """How likely an answer with these signs is right."""
        terms = zip(self.weights, signs, self.shifts, self.scales, strict=True)
        total = self.intercept + sum(w * (s - shift) / scale for w, s, shift, scale in terms)
        return 1 / (1 + math.exp(-max(-500.0, min(500.0, total))))


@dataclass(frozen=True)
class MethodTrust:
    """How well one way of ranking the instances of a bag does; averages over bags."""

    __pydantic_config__ = STRICT

    auroc: float | None
    """Chance that an instance which carries the label ranks above one which doesn't; None without instance truth."""
    average_precision: float | None
    area: float
    """Probability of the predicted class while instances are removed from most to least relevant; low is good."""
    gain: float
    """How far that lies below the area of random orders; 0 is chance."""
    gain_low: float
    gain_high: float
    """95 % confidence interval of the gain, over bags."""
    agreement: float | None
    """Spearman's correlation with leave-one-out."""


@dataclass(frozen=True)
class FirstMap:
    """Which map to show first, and how well it finds what carries the class."""

    __pydantic_config__ = STRICT

    name: Literal["attention", "vote", "contribution", "attention of the answer"]
    auroc: float
    """Mean over pictures of the pixel AUROC."""
    darkness: float
    """The same of how dark a place is."""
    untrained: float
    """The same of a network that has learned nothing."""
    n: Whole
    on: str
    chosen_on: str
    others: Mapping[str, float]
    """The same of the other maps, on the pictures that chose."""


@dataclass(frozen=True)
class Trust:
    """What was measured on `bags` bags, of which `located` hold both instances that carry the label and others."""

    __pydantic_config__ = STRICT

    on: str
    bags: Whole
    located: Whole
    positive_share: float | None
    """Share of the instances that carry the label, in an average located bag."""
    evenness: float
    """Entropy of the attention over that of an even one: 1 where the model looks at all instances alike."""
    random_area: float
    """The area of random orders."""
    methods: Mapping[str, MethodTrust]
    """Attention, contribution, single, leave-one-out, integrated gradients."""
    random_weights: Mapping[str, MethodTrust]
    """The same with rankings by networks that have learned nothing, which have to come out at chance."""
    seed: Whole


MOST_CARD_BYTES = 2_000_000
"""Cards that ship have some ten thousand."""
_GENERATOR = re.compile(r"([^\W_][\w .+-]{0,79})?")  # empty: bags of unknown origin
_ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,79}")
_AssetFile = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*/[a-z][a-z0-9_.-]*$")]
_RESTORE = "Restore the file or train the model again."


@dataclass(frozen=True)
class TrainingData:
    """What a model learned from, and whose it is."""

    __pydantic_config__ = STRICT

    name: str
    counts: Mapping[str, Whole]
    """Source pictures of each class; augmented copies of one picture count once."""
    bags: Whole
    """Bags in all, augmented copies included."""
    licence: str
    source: str


@dataclass(frozen=True)
class CandidateScheme:
    """How the candidate sets of the training bags came about; `average_size` is the mean |S|."""

    __pydantic_config__ = STRICT

    scheme: str
    average_size: float
    seed: Whole | None = None


@dataclass(frozen=True)
class Accuracy:
    """Share of n bags classified rightly, on which bags; `std` (ddof 0) where it was measured repeatedly."""

    __pydantic_config__ = STRICT

    value: Share
    n: Count
    split: str
    std: float | None = None
    repeats: Whole = 1


@dataclass(frozen=True)
class Card:
    """Everything about one model but its weights."""

    __pydantic_config__ = STRICT

    id: str
    method: str
    generator: str
    generator_params: Mapping[str, Any]
    label_space: LabelSpace
    dim: Annotated[int, Field(ge=1, le=1_000_000)]
    config: Mapping[str, Any]
    training_data: TrainingData
    candidates: CandidateScheme
    seed: Whole
    accuracy: Accuracy | None
    calibration: Calibration | None
    sha256: Sha256
    versions: Mapping[str, str]
    created_by: str
    generator_files: Mapping[_AssetFile, Sha256] = field(default_factory=dict)
    """Sums of the files below `assets` that the generator computed with, by their names; older cards have none."""
    checks: Limits = field(default_factory=Limits)
    """Limits for judging whether a picture is in scope, derived from the training bags and their pictures."""
    pictures: Pictures | None = None
    """What the model learned to read; cards from before this entry have it from the source of their data."""
    conformal: Conformal | None = None
    """When a label is possible, fitted by the true labels of held-out bags."""
    conformal_by_candidates: Conformal | None = None
    """The same fitted by candidate sets alone."""
    reliability: Reliability | None = None
    """How often the model is right when it is this sure."""
    trust: Trust | None = None
    """How far the model's explanations can be trusted."""
    acceptance: Acceptance | None = None
    """When an answer may be trusted; without it one possible label decides."""
    first_map: FirstMap | None = None
    """The map that finds what carries the class best; attention where none was measured."""
    measured: Mapping[str, Any] = field(default_factory=dict)
    """What else was measured, by name: values, n and what they were measured on."""

    def __post_init__(self) -> None:
        check_id(self.id)
        check_generator(self.generator)
        if not self.checks.fit(self.dim):
            raise InputError(
                f"The checks in “{self.id}.json” are not of bags of {self.dim} features.",
                _RESTORE,
            )
        for sets in (self.conformal, self.conformal_by_candidates):
            if sets is not None and len(sets.pictures) != len(self.label_space):
                raise InputError(f"The label sets in “{self.id}.json” are not of its classes.", _RESTORE)
        if self.pictures is None:
            object.__setattr__(self, "pictures", pictures_of(self.generator, self.training_data.source))

    @property
    def called(self) -> str:
        """What a person is told the model is: its id, and that it knows drawings only where it does."""
        return f"{self.id} (learned from {PHANTOMS} only)" if self.pictures == PHANTOMS else self.id

    @cached_property
    def fingerprint(self) -> str:
        """A sum of everything the card says, that of the weights included: what is kept for a model is kept by it."""
        return hashlib.sha256(json.dumps(self.to_dict(), sort_keys=True).encode()).hexdigest()

    @property
    def temperature(self) -> float:
        """What the raw probabilities are tempered with; 1 without a calibration."""
        return 1.0 if self.calibration is None else self.calibration.temperature

    @property
    def label_sets(self) -> Conformal | None:
        """What decides which labels are possible: fitted by true labels where they were known."""
        return self.conformal or self.conformal_by_candidates

    def to_dict(self) -> dict[str, Any]:
        """The card as plain JSON values."""
        values: dict[str, Any] = plain(self)
        return values

    @classmethod
    def from_dict(cls, values: Any, called: str = "The model card") -> Card:
        """The card that `to_dict` wrote; unknown, missing and ill-typed entries are refused by name."""
        return validated(cls, values, called, _RESTORE)

    @classmethod
    def read(cls, path: Path) -> Card:
        """The card in a JSON file; every refusal names the file."""
        called = f"The model card “{path.name}”"
        if path.is_file() and path.stat().st_size > MOST_CARD_BYTES:
            raise InputError(f"{called} is larger than {MOST_CARD_BYTES // 10**6} MB, as no card is.", _RESTORE)
        card = cls.from_dict(read_json(path, called, _RESTORE), called)
        if card.id != path.stem:
            raise InputError(f"{called} describes the model “{card.id}”.", "Give the file the name of its model.")
        return card


def check_generator(name: str) -> None:
    """Refuse what can't name a generator."""
    if not _GENERATOR.fullmatch(name):
        fix = "Use up to 80 letters, digits, spaces, points, hyphens, pluses and underscores, a letter or digit first."
        raise InputError(f"“{shown_name(name)}” can't name a generator.", fix)


def check_id(model_id: str) -> None:
    """Refuse what can't name a model, and so its files."""
    if not _ID.fullmatch(model_id):
        raise InputError(
            f"“{model_id}” can't name a model.", "Use lower-case letters, digits, hyphens and underscores."
        )


def usual_id(pictures: Pictures, label_space: LabelSpace, generator: str, method: str) -> str:
    """The usual name of a model, such as tissue7-sbn-elimipl; it says when a model learned from drawings only.

    >>> from elimipl.candidates.labels import TISSUE7
    >>> usual_id("drawn phantoms", TISSUE7, "sbn", "elimipl")
    'phantoms-sbn-elimipl'
    """
    learned = "phantoms" if pictures == PHANTOMS else label_space.id
    return f"{learned}-{generator or 'bags'}-{method}"
