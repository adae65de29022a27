"""Facts that come from a file: JSON that means one thing only, checked against a pydantic model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from bag_generators.errors import InputError

Model = TypeVar("Model", bound=BaseModel)

RESTORE = "Restore the file, or make it again."


class Record(BaseModel):
    """A table of facts: exactly its fields, each of its type, never changed afterwards, no NaN and no infinity."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


def parse_json(text: str | bytes, called: str, fix: str = RESTORE) -> Any:
    """The value of a JSON text; `called` names where it stands, such as “The model card “x.json””.

    Refused besides what is not JSON: the same key twice, half a surrogate pair, numbers that are not finite.
    """
    try:
        values = json.loads(text, object_pairs_hook=_unique, parse_constant=_not_finite)
        json.dumps(values, ensure_ascii=False).encode()  # half a surrogate pair passes as text until it is shown
    except (ValueError, RecursionError):
        raise InputError(f"{called} is not JSON.", fix) from None
    return values


def read_json(path: Path, called: str, fix: str = RESTORE) -> Any:
    """The value in a JSON file; every refusal begins with `called`."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"{called} does not exist.", "Check the name.") from None
    except OSError as error:
        raise InputError(f"{called} can't be read ({error.strerror}).", "Check its rights.") from None
    return parse_json(content, called, fix)


def validated(model: type[Model], values: Any, called: str, fix: str = RESTORE) -> Model:
    """`values` as a `model`; the first thing that is wrong is named by its place, such as “limits.size”."""
    try:
        return model.model_validate(values)
    except ValidationError as refusal:
        first = refusal.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the whole"
        raise InputError(f"{called} is damaged at “{place}”: {_said(first)}.", fix) from None


def _said(error: Mapping[str, Any]) -> str:
    own = error.get("ctx", {}).get("error")
    return str(own).rstrip(".") if isinstance(own, ValueError) else str(error["msg"]).lower()


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        raise ValueError("the same key twice")
    return values


def _not_finite(name: str) -> float:
    raise ValueError(name)
