"""How a bag data set lies on disk: one safetensors file whose metadata is one JSON text.

safetensors holds numbers and text only, so that opening a file somebody sent can't run code.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from bag_generators.errors import InputError
from bag_generators.storage import write_whole

ARRAYS = ("instances", "offsets", "candidates", "labels", "groups")
OPTIONAL_ARRAYS = ("instance_truth",)
DESCRIPTIONS = {
    "label_space": dict,
    "generator": str,
    "params": dict,
    "names": list,
    "source": str,
    "licence": str,
}
VERSION = 1
# safetensors doesn't keep the order of metadata entries; one entry keeps equal data sets byte for byte equal.
_METADATA_KEY = "elimipl.bags"


def plain_json(values: Mapping[str, Any]) -> dict[str, Any]:
    """`values` as they read after a round trip through JSON: tuples are lists, NumPy numbers plain ones."""
    try:
        return dict(json.loads(json.dumps(values, default=_plain, allow_nan=False)))
    except (TypeError, ValueError):
        raise InputError(
            "The parameters of the bags can't be written as JSON.", "Use numbers, texts, lists and tables."
        ) from None


def _plain(value: object) -> object:
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(type(value).__name__)


def write(path: Path, arrays: Mapping[str, np.ndarray], described: Mapping[str, Any]) -> None:
    """Write `arrays` and `described` to `path`, all or nothing."""
    text = json.dumps({"version": VERSION, **described}, sort_keys=True, ensure_ascii=False)
    content = save(dict(arrays), metadata={_METADATA_KEY: text})
    write_whole(path, content, "The data set")


def read(path: Path, called: str) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The arrays and the description that `write` put into `path`; `called` names the file in a refusal."""
    try:
        with safe_open(path, framework="numpy") as file:
            described = _description(called, (file.metadata() or {}).get(_METADATA_KEY))
            present = set(file.keys())
            if not set(ARRAYS) <= present <= {*ARRAYS, *OPTIONAL_ARRAYS}:
                raise _foreign(called)
            arrays = {name: file.get_tensor(name) for name in sorted(present)}
    except FileNotFoundError:
        raise InputError(f"There is no file “{called}”.", "Check the name.") from None
    except OSError as error:
        raise InputError(f"“{called}” could not be read ({error}).", "Check the file and its rights.") from None
    except (SafetensorError, TypeError):
        # TypeError: a number format NumPy doesn't have (bfloat16), so not a file of ours
        raise _foreign(called) from None
    return arrays, described


def _description(called: str, text: str | None) -> dict[str, Any]:
    if text is None:
        raise _foreign(called)
    try:
        described = json.loads(text)
        json.dumps(described, ensure_ascii=False).encode()  # half a surrogate pair passes as text until it is shown
        version = described.pop("version")
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
        raise _foreign(called) from None
    if version != VERSION:
        raise InputError(
            f"“{called}” is written in version {version} of the bag format, this program reads {VERSION}.",
            "Build the data set again, or update the program.",
        )
    if set(described) != set(DESCRIPTIONS) or any(
        not isinstance(described[key], kind) for key, kind in DESCRIPTIONS.items()
    ):
        raise _foreign(called)
    return described


def _foreign(called: str) -> InputError:
    return InputError(
        f"“{called}” is not a whole bag data set of this program.",
        "Choose a file written by “python -m elimipl bags”, or build it again if a copy broke off.",
    )
