"""Facts that come from a file: JSON, checked against the type it should have.

A record is a `Record`, or a dataclass that carries `STRICT` where the program makes it itself and its `__post_init__`
refuses with an `InputError`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from bag_generators.base.errors import InputError

Kind = TypeVar("Kind")

RESTORE = "Restore the file, or make it again."
STRICT = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)
"""Exactly the fields of a record, each of its type, no NaN and no infinity; `__pydantic_config__` of a dataclass."""
Whole = Annotated[int, Field(ge=-(2**63), lt=2**63)]
"""A whole number that everything can count with."""
Count = Annotated[int, Field(ge=1, lt=2**63)]
Share = Annotated[float, Field(ge=0, le=1)]
Positive = Annotated[float, Field(gt=0)]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class Record(BaseModel):
    """A table of facts: exactly its fields, each of its type, never changed afterwards, no NaN and no infinity."""

    model_config = STRICT


def parse_json(text: str | bytes, called: str, fix: str = RESTORE) -> Any:
    """The value of a JSON text; `called` names where it stands, such as “The model card “x.json””.

    Refused besides what is not JSON: half a surrogate pair, NaN and infinity.
    """
    try:
        values = json.loads(text, parse_constant=_not_finite)
        json.dumps(values, ensure_ascii=False).encode()  # half a surrogate pair passes as text until it is shown
    except (ValueError, RecursionError):
        raise InputError(f"{called} is not JSON.", fix) from None
    return values


def read_json(path: Path, called: str, fix: str = RESTORE) -> Any:
    """The value in a JSON file; every refusal begins with `called`."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"{called} does not exist.", fix) from None
    except OSError as error:
        raise InputError(f"{called} can't be read ({error.strerror}).", fix) from None
    return parse_json(content, called, fix)


def validated(kind: type[Kind], values: Any, called: str, fix: str = RESTORE) -> Kind:
    """Plain JSON `values` as a `kind`; the first thing that is wrong is named by its path, such as “limits.size”."""
    try:
        # As text, because JSON has lists only: its lists are good for tuples, and nothing else is converted.
        text = json.dumps(values, ensure_ascii=False).encode()
    except (ValueError, TypeError, RecursionError):
        raise InputError(f"{called} holds something that can't be shown.", fix) from None
    try:
        return _adapter(kind).validate_json(text)
    except ValidationError as refusal:
        raise _sentence(refusal.errors(include_url=False)[0], called, fix) from None


def plain(record: Any) -> Any:
    """A record as plain JSON values, which `validated` reads again."""
    return _adapter(type(record)).dump_python(record, mode="json")


def _adapter(kind: type[Kind]) -> TypeAdapter[Kind]:
    if kind not in _ADAPTERS:
        _ADAPTERS[kind] = TypeAdapter(kind)
    return _ADAPTERS[kind]


def _sentence(error: Mapping[str, Any], called: str, fix: str) -> InputError:
    path, kind, own = ".".join(str(part) for part in error["loc"]), error["type"], error.get("ctx", {}).get("error")
    if kind == "missing":
        return InputError(f"{called} lacks the entry “{path}”.", fix)
    if kind in _UNKNOWN:
        return InputError(f"{called} has an unknown entry “{path}”.", fix)
    if kind in _EXPECTED:
        what = f"The entry “{path}” of {called[:1].lower()}{called[1:]}" if path else called
        return InputError(f"{what} is not {_EXPECTED[kind]}.", fix)
    where = f" at “{path}”" if path else ""
    if isinstance(own, InputError):
        return InputError(f"{called} is damaged{where}: {own.what}", own.fix)
    said = str(own).rstrip(".") if isinstance(own, ValueError) else str(error["msg"]).lower()
    return InputError(f"{called} is damaged{where}: {said}.", fix)


_ADAPTERS: dict[type, TypeAdapter[Any]] = {}  # making one takes longer than a hundred uses
_UNKNOWN = frozenset({"extra_forbidden", "unexpected_keyword_argument"})
_EXPECTED: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("dict_type", "dataclass_type", "model_type", "mapping_type"), "a table"),
        **dict.fromkeys(("list_type", "tuple_type"), "a list"),
        **dict.fromkeys(("int_type", "int_from_float", "int_parsing", "int_parsing_size"), "a whole number"),
        **dict.fromkeys(("float_type", "finite_number"), "a number"),
        "string_type": "a text",
        "bool_type": "true or false",
    }
)


def _not_finite(name: str) -> float:
    raise ValueError(name)
