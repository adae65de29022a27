"""What is known about a trained model, kept beside its weights as `<id>.json` and readable by anybody.

A card says what the model reads (generator, parameters, dimension), what it answers (label space), what it
learned from, with which settings, how well it does on what, and which weights file belongs to it (sha256).
"""

from __future__ import annotations

import json
import platform
import re
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass, replace
from importlib.metadata import version
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Any, get_args, get_origin, get_type_hints

import numpy as np

from bag_generators.errors import InputError
from elimipl.cards import files as model_file
from elimipl.cards.calibration import Calibration
from elimipl.labels import LabelSpace

if TYPE_CHECKING:
    from elimipl.dataset import BagDataset
    from elimipl.training.loop import Fitted

_ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,79}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_MOST_FEATURES = 1_000_000
_LARGEST_NUMBER = 2**63


@dataclass(frozen=True)
class TrainingData:
    """What a model learned from, and whose it is."""

    name: str
    counts: Mapping[str, int]
    """Source pictures of each class; augmented copies of one picture count once."""
    bags: int
    """Bags in all, augmented copies included."""
    licence: str
    source: str


@dataclass(frozen=True)
class CandidateScheme:
    """How the candidate sets of the training bags came about; `average_size` is the mean |S|."""

    scheme: str
    average_size: float
    seed: int | None = None


@dataclass(frozen=True)
class Accuracy:
    """Share of n bags classified rightly, on which bags; `std` (ddof 0) where it was measured repeatedly."""

    value: float
    n: int
    split: str
    std: float | None = None
    repeats: int = 1

    def __post_init__(self) -> None:
        if not 0 <= self.value <= 1 or self.n < 1:
            raise InputError(
                f"An accuracy of {self.value} on {self.n} bags can't be.", "Give a share on at least one bag."
            )


@dataclass(frozen=True)
class Card:
    """Everything about one model but its weights."""

    id: str
    method: str
    generator: str
    generator_params: Mapping[str, Any]
    label_space: LabelSpace
    dim: int
    config: Mapping[str, Any]
    training_data: TrainingData
    candidates: CandidateScheme
    seed: int
    accuracy: Accuracy | None
    calibration: Calibration | None
    sha256: str
    versions: Mapping[str, str]
    created_by: str
    checks: Mapping[str, Any] = field(default_factory=dict)
    """Thresholds for judging whether a picture is in scope, by name; derived from the training tiles."""

    def __post_init__(self) -> None:
        if not _ID.fullmatch(self.id):
            raise InputError(
                f"“{self.id}” can't name a model.", "Use lower-case letters, digits, hyphens and underscores."
            )
        if not _SHA256.fullmatch(self.sha256):
            raise InputError(f"“{self.sha256}” is not a sha256 sum.", "Give 64 hexadecimal digits.")
        if not 1 <= self.dim <= _MOST_FEATURES:
            raise InputError(f"A model can't read {self.dim} features.", f"Give 1 to {_MOST_FEATURES:,}.")

    @property
    def temperature(self) -> float:
        """What the raw probabilities are tempered with; 1 without a calibration."""
        return 1.0 if self.calibration is None else self.calibration.temperature

    def to_dict(self) -> dict[str, Any]:
        """The card as plain JSON values."""
        return _plain(self)

    @classmethod
    def from_dict(cls, values: Any, where: str = "the card") -> Card:
        """The card that `to_dict` wrote; unknown, missing and ill-typed entries are refused by name."""
        return _record(cls, values, where, "")

    @classmethod
    def read(cls, path: Path) -> Card:
        """The card in a JSON file; every refusal names the file."""
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
            json.dumps(values, ensure_ascii=False).encode()  # half a surrogate pair passes as text until it is shown
        except FileNotFoundError:
            raise InputError(f"There is no model card “{path}”.", "Check the name.") from None
        except OSError as error:
            raise InputError(
                f"The model card “{path}” can't be read ({error.strerror}).", "Check its rights."
            ) from None
        except (ValueError, RecursionError):
            raise InputError(
                f"The model card “{path.name}” is not JSON.", "Restore the file or train the model again."
            ) from None
        card = cls.from_dict(values, f"“{path.name}”")
        if card.id != path.stem:
            raise InputError(
                f"The model card “{path.name}” describes the model “{card.id}”.",
                "Give the file the name of its model.",
            )
        return card


def describe(
    fitted: Fitted,
    dataset: BagDataset,
    *,
    candidate_scheme: str,
    created_by: str,
    candidate_seed: int | None = None,
    name: str = "",
    model_id: str = "",
    accuracy: Accuracy | None = None,
    calibration: Calibration | None = None,
    checks: Mapping[str, Any] | None = None,
) -> Card:
    """The card of a model that was fitted on `dataset`; what the two know themselves is taken from them."""
    labels, names = dataset.labels, dataset.label_space.names
    return Card(
        id=model_id or usual_id(dataset.label_space, dataset.generator, fitted.config.method),
        method=fitted.config.method,
        generator=dataset.generator,
        generator_params=dict(dataset.params),
        label_space=dataset.label_space,
        dim=dataset.dim,
        config=fitted.config.to_dict(),
        training_data=TrainingData(
            name=name or dataset.label_space.id,
            counts={c: len(np.unique(dataset.groups[labels == i])) for i, c in enumerate(names)},
            bags=len(dataset),
            licence=dataset.licence,
            source=dataset.source,
        ),
        candidates=CandidateScheme(candidate_scheme, float(dataset.candidates.sum(axis=1).mean()), candidate_seed),
        seed=fitted.config.seed,
        accuracy=accuracy,
        calibration=calibration,
        sha256=model_file.pack(model_file.arrays(fitted))[1],
        versions={"python": platform.python_version(), **{name: version(name) for name in ("torch", "numpy")}},
        created_by=created_by,
        checks=dict(checks or {}),
    )


def save_model(fitted: Fitted, card: Card, folder: Path) -> Path:
    """Write `<id>.safetensors` and `<id>.json`, each all or nothing, the card last; returns its path."""
    weights, sha256 = model_file.pack(model_file.arrays(fitted))
    return model_file.write(replace(card, sha256=sha256), weights, folder)


def model_files(fitted: Fitted, card: Card) -> dict[str, bytes]:
    """What `save_model` would write, by file name, without a disk."""
    weights, sha256 = model_file.pack(model_file.arrays(fitted))
    return model_file.files(replace(card, sha256=sha256), weights)


def usual_id(label_space: LabelSpace, generator: str, method: str) -> str:
    """The usual name of a model, such as tissue7-sbn-elimipl; bags without a generator are just “bags”."""
    return f"{label_space.id}-{generator or 'bags'}-{method}"


def _plain(value: Any) -> Any:
    if isinstance(value, LabelSpace):
        return value.to_dict()
    if is_dataclass(value):
        return {entry.name: _plain(getattr(value, entry.name)) for entry in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return value


def _record(kind: Any, values: Any, where: str, path: str) -> Any:
    """A dataclass of type `kind` from a JSON object: exactly its fields, each of its type."""
    if not isinstance(values, Mapping):
        raise _wrong(where, path or "whole file", "a table")
    known = {entry.name: entry for entry in fields(kind)}
    optional = {
        name for name, entry in known.items() if entry.default is not MISSING or entry.default_factory is not MISSING
    }
    for name in [name for name in values if name not in known]:
        raise InputError(f"The model card {where} has an unknown entry “{path}{name}”.", "Remove it.")
    for name in [name for name in known if name not in values and name not in optional]:
        raise InputError(f"The model card {where} lacks the entry “{path}{name}”.", "Add it.")
    hints = get_type_hints(kind)
    read = {name: _value(hints[name], item, where, f"{path}{name}") for name, item in values.items()}
    try:
        return kind(**read)
    except InputError as error:
        raise InputError(f"The model card {where} is damaged: {error.what}", error.fix) from None


def _value(kind: Any, value: Any, where: str, path: str) -> Any:
    if get_origin(kind) is UnionType:
        return None if value is None else _value(get_args(kind)[0], value, where, path)
    if kind is LabelSpace:
        try:
            return LabelSpace.from_dict(value)
        except InputError as error:
            raise InputError(f"The model card {where} is damaged at “{path}”: {error.what}", error.fix) from None
    if is_dataclass(kind):
        return _record(kind, value, where, f"{path}.")
    if get_origin(kind) is not None:
        if not isinstance(value, Mapping):
            raise _wrong(where, path, "a table")
        inner = get_args(kind)[1]
        return {
            name: item if inner is Any else _value(inner, item, where, f"{path}.{name}") for name, item in value.items()
        }
    if kind is str and isinstance(value, str):
        return value
    number = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _LARGEST_NUMBER
    if kind is float and number:
        return float(value)
    if kind is int and number and isinstance(value, int):
        return value
    raise _wrong(where, path, {str: "a text", int: "a whole number", float: "a number"}[kind])


def _wrong(where: str, path: str, expected: str) -> InputError:
    return InputError(
        f"The entry “{path}” of the model card {where} is not {expected}.",
        "Restore the file or train the model again.",
    )
