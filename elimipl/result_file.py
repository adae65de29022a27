"""A result as a JSON file: everything needed to get it again, and the numbers to compare."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bag_generators.base.errors import InputError, printable
from bag_generators.base.validation import Record, Sha256, Whole, read_json, validated
from elimipl.answers.predictor import Prediction

TOLERANCE = 1e-6
"""What another processor or library may change; on the same computer nothing differs."""
_TAKE_AGAIN = "Take the JSON away from the page again."


class Field(Record):
    """The part of the picture that the model saw, in pixels."""

    x: Whole
    y: Whole
    width: Whole
    height: Whole


class SavedPicture(Record):
    """Which file it was, and which part of it was looked at at which scale."""

    sha256: Sha256
    width: Whole
    height: Whole
    field: Field
    microns_per_pixel: float | None
    scale_source: str
    sample: str | None
    notes: tuple[str, ...]


class Instances(Record):
    """How the bag was made, and which instances were taken out of it."""

    generator: str
    params: dict[str, Any]
    instances: Whole
    removed: tuple[Whole, ...]


class Model(Record):
    """Which model answered."""

    id: str
    sha256: Sha256
    method: str
    label_space: str


class Numbers(Record):
    """What a model said about a bag."""

    label: str
    probabilities: dict[str, float]
    raw: dict[str, float]
    attention: tuple[float, ...]

    @classmethod
    def of(cls, prediction: Prediction) -> Numbers:
        """The numbers of a prediction."""
        names = prediction.label_space.names
        return cls(
            label=prediction.label,
            probabilities=dict(zip(names, prediction.probabilities.tolist(), strict=True)),
            raw=dict(zip(names, prediction.raw.tolist(), strict=True)),
            attention=tuple(prediction.attention.tolist()),
        )

    def by_name(self) -> Iterator[tuple[str, float]]:
        """Every number with the path under which it stands in the file."""
        yield from ((f"probabilities.{name}", value) for name, value in self.probabilities.items())
        yield from ((f"raw.{name}", value) for name, value in self.raw.items())
        yield from ((f"attention.{number}", value) for number, value in enumerate(self.attention))


class Result(Record):
    """The whole file."""

    notice: str
    picture: SavedPicture
    bag: Instances
    model: Model
    candidates: tuple[str, ...]
    """Labels that somebody named as possible, never the model; none where nobody did."""
    true_label: str | None
    prediction: Numbers
    """Of the whole bag."""
    without_removed: Numbers | None
    """Of the instances that stayed; None where none were removed."""
    answer: dict[str, Any]
    map: dict[str, Any]
    versions: dict[str, str]
    candidates_from: str | None = None
    """Who named them, such as simulated annotators; older files don't say."""

    @classmethod
    def read(cls, path: Path) -> Result:
        """The result in a file; one that is damaged or of another program is refused with the entry at fault."""
        called = f"The result “{printable(path.name)}”"
        result = validated(cls, read_json(path, called, _TAKE_AGAIN), called, _TAKE_AGAIN)
        if (result.without_removed is None) != (not result.bag.removed):
            raise InputError(f"{called} lacks the numbers without the removed instances.", _TAKE_AGAIN)
        return result


def differences(recorded: Numbers, found: Numbers, tolerance: float = TOLERANCE) -> list[str]:
    """What differs, a line each, named as in the file; nothing where all numbers are the same."""
    lines = [] if recorded.label == found.label else [f"label: {recorded.label} in the file, {found.label} now"]
    before, now = dict(recorded.by_name()), dict(found.by_name())
    for name in dict.fromkeys([*before, *now]):
        values = before.get(name, math.nan), now.get(name, math.nan)
        if not abs(values[0] - values[1]) <= tolerance:
            lines.append(f"{name}: {_shown(values[0])} in the file, {_shown(values[1])} now")
    return lines


def _shown(value: float) -> str:
    return "nothing" if math.isnan(value) else f"{value:.9g}"
