"""Settings of a training: frozen, validated, refused with a sentence where they make no sense.

A method declares its settings as a dataclass that inherits `Settings`, with `number`, `choice` and `switch` for what a
setting may be:

>>> @dataclass(frozen=True)
... class Example(Settings):
...     epochs: int = number(10, 1, 100)
>>> Example.of(epochs=20).replace(seed=3).to_dict()
{'seed': 3, 'epochs': 20}
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Self

from bag_generators.errors import InputError


def number(default: float, low: float, high: float, *, rare: bool = False) -> Any:
    """A setting from `low` to `high`, both allowed; whole if it is declared an int. See `rare_switch` for `rare`."""
    return field(default=default, metadata={"range": (low, high)} | _rarely(rare))


def choice(default: str, *others: str, rare: bool = False) -> Any:
    """A setting that is one of a few words. See `rare_switch` for `rare`."""
    return field(default=default, metadata={"choices": (default, *others)} | _rarely(rare))


def switch(default: bool) -> Any:
    """A setting that is on or off."""
    return field(default=default, metadata={"switch": True})


def rare_switch() -> Any:
    """A setting that is off unless it is written down; files written without it mean off."""
    return field(default=False, metadata={"switch": True, "rare": True})


def registered(default: str) -> Any:
    """A setting that names something which can be registered later; files written without it mean `default`.

    Only its form is checked here: a model stays readable where what it was trained with isn't installed.
    """
    return field(default=default, metadata={"registered": True, "rare": True})


def _rarely(rare: bool) -> dict[str, bool]:
    return {"rare": True} if rare else {}


@dataclass(frozen=True)
class Settings:
    """What every method has: a seed, and the ways to make, change and store its settings."""

    seed: int = number(0, 0, 2**31 - 1)

    def __post_init__(self) -> None:
        for each in fields(self):
            _check_value(each.name, str(each.type), each.metadata, getattr(self, each.name))

    @classmethod
    def of(cls, **settings: Any) -> Self:
        """The method's own settings with some changed; a name that doesn't exist is refused."""
        cls._check_names(settings)
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
        self._check_names(changes)
        return replace(self, **changes)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {
            each.name: value
            for each, value in zip(fields(self), asdict(self).values(), strict=True)
            if "rare" not in each.metadata or value != each.default
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """The inverse of `to_dict`; settings that are missing take their usual values."""
        return cls.of(**values)

    @classmethod
    def choices(cls, name: str) -> tuple[str, ...]:
        """The words that a setting may be, its usual one first."""
        (found,) = (each for each in fields(cls) if each.name == name)
        words: tuple[str, ...] = found.metadata["choices"]
        return words

    @classmethod
    def _check_names(cls, values: Mapping[str, Any]) -> None:
        known = [each.name for each in fields(cls)]
        for name in values:
            if name not in known:
                near = difflib.get_close_matches(str(name), known, n=1)
                hint = f"Did you mean {near[0]!r}?" if near else f"The settings are {', '.join(known)}."
                raise InputError(f"There is no setting {name!r}.", hint)

    @classmethod
    def _check(cls, name: str, value: Any) -> None:
        """Refuse a value of one setting, as making the whole would."""
        (found,) = (each for each in fields(cls) if each.name == name)
        _check_value(name, str(found.type), found.metadata, value)


def _check_value(name: str, kind: str, allowed: Mapping[str, Any], value: Any) -> None:
    if "choices" in allowed:
        if value not in allowed["choices"]:
            raise InputError(f"{name} can't be {value!r}.", f"Choose one of {', '.join(allowed['choices'])}.")
    elif "switch" in allowed:
        if not isinstance(value, bool):
            raise InputError(f"{name} can't be {value!r}.", "Give True or False.")
    elif "registered" in allowed:
        if not isinstance(value, str) or not value.isprintable() or not 1 <= len(value) <= 100:
            raise InputError(f"{name} can't be {value!r}.", "Give a name of 1 to 100 characters.")
    elif "range" in allowed:
        low, high = allowed["range"]
        fits = isinstance(value, int) if kind == "int" else isinstance(value, int | float)
        if isinstance(value, bool) or not fits or not low <= value <= high:
            noun = "a whole number" if kind == "int" else "a number"
            raise InputError(f"{name} can't be {value!r}.", f"Give {noun} from {low:g} to {high:g}.")
