"""Settings of a training: frozen, validated, refused with a sentence where they make no sense.

A method declares its settings as a class that inherits `Settings`, with pydantic's `Field` and `Literal` for what a
setting may be:

>>> class Example(Settings):
...     epochs: int = Field(10, ge=1, le=100)
>>> Example.of(epochs=20).replace(seed=3).to_dict()
{'seed': 3, 'epochs': 20}
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from typing import Any, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bag_generators.base.errors import InputError

RARE: dict[str, Any] = {"rare": True}
"""`json_schema_extra` of a setting that is only written down where it isn't the usual one: older files lack it."""
NAME = r"^( |[^\p{C}\p{Z}]){1,100}$"
"""`pattern` of a setting that names something which may be registered later.

A model stays readable where what it was trained with isn't installed.
"""


class Settings(BaseModel):
    """What every method has: a seed, and the ways to make, change and store its settings."""

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
