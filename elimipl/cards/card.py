"""What is known about a trained model, kept beside its weights as `<id>.json` and readable by anybody.

A card says what the model reads (generator, parameters, dimension), what it answers (label space), what it
learned from, with which settings, how well it does on what, and which weights file belongs to it (sha256).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from bag_generators.errors import InputError
from bag_generators.validation import STRICT, Count, Sha256, Share, Whole, plain, read_json, validated
from elimipl.cards.acceptance import Acceptance
from elimipl.cards.calibration import Calibration
from elimipl.cards.conformal import Conformal
from elimipl.cards.limits import Limits
from elimipl.cards.reliability import Reliability
from elimipl.cards.trust import FirstMap, Trust
from elimipl.data.pictures import PHANTOMS, Pictures, pictures_of
from elimipl.labels import LabelSpace

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
        card = cls.from_dict(read_json(path, called, _RESTORE), called)
        if card.id != path.stem:
            raise InputError(f"{called} describes the model “{card.id}”.", "Give the file the name of its model.")
        return card


def check_id(model_id: str) -> None:
    """Refuse what can't name a model, and so its files."""
    if not _ID.fullmatch(model_id):
        raise InputError(
            f"“{model_id}” can't name a model.", "Use lower-case letters, digits, hyphens and underscores."
        )


def usual_id(pictures: Pictures, label_space: LabelSpace, generator: str, method: str) -> str:
    """The usual name of a model, such as tissue7-sbn-elimipl; it says when a model learned from drawings only.

    >>> from elimipl.labels import TISSUE7
    >>> usual_id("drawn phantoms", TISSUE7, "sbn", "elimipl")
    'phantoms-sbn-elimipl'
    """
    learned = "phantoms" if pictures == PHANTOMS else label_space.id
    return f"{learned}-{generator or 'bags'}-{method}"
