"""Reading figures by their JSON."""

import base64
import json
from typing import Any

import numpy as np


def numbers(values: Any) -> np.ndarray:
    """A list of numbers in a figure's JSON: a list, or base64 where it was a NumPy array."""
    if isinstance(values, dict):
        array = np.frombuffer(base64.b64decode(values["bdata"]), values["dtype"]).astype(float)
        return array.reshape([int(part) for part in values["shape"].split(",")]) if "shape" in values else array
    return np.array(values, float)


def drawn_chart(page: Any, key: str) -> dict[str, Any]:
    """The figure that a page under test drew with this key."""
    (found,) = (item for item in page.get("plotly_chart") if item.proto.id.endswith(f"-{key}"))
    return json.loads(found.proto.spec)
