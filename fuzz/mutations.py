"""Change a file a little, in ways that get past the first checks of its format.

Blind changes are mostly caught by the first check sum or bracket. So the check sums of a PNG are repaired after a
change, and JSON (a card, or the header of a safetensors file) is changed as values and written again.
"""

from __future__ import annotations

import copy
import json
import struct
import zlib
from random import Random
from typing import Any

NUMBERS = (0, 1, 2, 127, 255, 65535, 2**31 - 1, 2**31, 2**32 - 1)
ODD_VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2**31, 2**63, 10**400, 0.5, 1e308, float("nan"), float("inf"),
    "", "x" * 3000, "\ud800", "\0", "<img src=x>", "=1+1", "../../etc/passwd", "row", "F32", "F64", "I64", "BOOL",
    [], {}, [[]], [None], [0], [1, 2], {"a": 1}, {"limits": {}},
)  # fmt: skip


def mutated(data: bytes, rng: Random) -> bytes:
    """A changed copy; the kind of change depends on what the file looks like."""
    if data[:1] == b"{" and rng.random() < 0.8:
        return _changed_json(data, rng) or _changed_bytes(data, rng)
    if data[8:9] == b"{" and rng.random() < 0.7:
        return _changed_safetensors(data, rng) or _changed_bytes(data, rng)
    changed = _changed_bytes(data, rng)
    return with_right_sums(changed) if rng.random() < 0.5 else changed


def with_right_sums(data: bytes) -> bytes:
    """Mend a PNG's check sums, so that the changes get past them; other files stay as they are."""
    if not data.startswith(b"\x89PNG"):
        return data
    repaired, position = bytearray(data), 8
    while position + 12 <= len(data):
        end = position + 8 + int.from_bytes(data[position : position + 4], "big")
        if end + 4 > len(data):
            break
        struct.pack_into(">I", repaired, end, zlib.crc32(data[position + 4 : end]))
        position = end + 4
    return bytes(repaired)


def _changed_bytes(data: bytes, rng: Random) -> bytes:
    """One to six places overwritten, cut out or filled in; half of them in the header, which decides what happens."""
    changed = bytearray(data)
    for _ in range(rng.randint(1, 6)):
        end = rng.choice([min(160, len(changed)), len(changed)])
        position = rng.randint(0, max(end - 1, 0))
        way = rng.choice(("set", "set", "set", "number", "number", "cut", "insert", "remove"))
        if way == "set":
            changed[position : position + 1] = rng.randbytes(1)
        elif way == "number":
            changed[position : position + 4] = struct.pack(rng.choice("<>") + "I", rng.choice(NUMBERS))
        elif way == "cut":
            del changed[position + 1 :]
        elif way == "insert":
            changed[position:position] = rng.randbytes(rng.randint(1, 40))
        else:
            del changed[position : position + rng.randint(1, 40)]
    return bytes(changed)


def _changed_json(text: bytes, rng: Random) -> bytes | None:
    try:
        values = json.loads(text)
        for _ in range(rng.randint(1, 3)):
            values = _with_odd_value(values, rng)
        return json.dumps(values, ensure_ascii=rng.random() < 0.9).encode("utf-8", "surrogatepass")
    except (ValueError, RecursionError):
        return None


def _changed_safetensors(data: bytes, rng: Random) -> bytes | None:
    """The header of JSON changed and its length repaired; a text inside that is JSON itself is changed, too."""
    size = int.from_bytes(data[:8], "little")
    try:
        header = json.loads(data[8 : 8 + size])
        inside = header.get("__metadata__", {})
        if inside and rng.random() < 0.6:
            key = rng.choice(list(inside))
            changed = _changed_json(inside[key].encode(), rng)
            inside[key] = (changed or b"").decode("utf-8", "replace")
            new = json.dumps(header).encode()
        else:
            new = _changed_json(data[8 : 8 + size], rng) or b"{}"
    except (ValueError, RecursionError, AttributeError, TypeError):
        return None
    return len(new).to_bytes(8, "little") + new + data[8 + size :]


def _with_odd_value(values: Any, rng: Random) -> Any:
    """One value somewhere inside replaced, removed or put under another name."""
    if not values or not isinstance(values, dict | list) or rng.random() < 0.1:
        return copy.deepcopy(rng.choice(ODD_VALUES))
    key = rng.choice(list(values)) if isinstance(values, dict) else rng.randrange(len(values))
    way = rng.random()
    if way < 0.15:
        del values[key]
    elif way < 0.25 and isinstance(values, dict):
        values[rng.choice(("unknown", "", key + "_"))] = copy.deepcopy(rng.choice(ODD_VALUES))
    else:
        values[key] = _with_odd_value(values[key], rng)
    return values
