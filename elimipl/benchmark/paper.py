"""The numbers the paper prints: `paper.json` holds its tables 2 to 5 as they are, table → data → method → r."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path

Number = tuple[float, float]
"""Mean and standard deviation of the accuracy over ten splits."""

_FILE = Path(__file__).with_name("paper.json")


@lru_cache(maxsize=1)
def paper_tables() -> dict[str, dict[str, dict[str, list[Number | None]]]]:
    """Table number → data → method → one number for each r (tables 2, 4, 5: r = 1, 2, 3); None is the paper's “--”."""
    return {
        table: {
            data: {
                method: [None if number is None else (number[0], number[1]) for number in numbers]
                for method, numbers in methods.items()
            }
            for data, methods in content.items()
        }
        for table, content in json.loads(_FILE.read_text(encoding="utf-8")).items()
    }


def paper_number(data: str, r: int, method: str) -> Number | None:
    """What the paper reports for a method on its data set `data`; r is 0 where candidate sets come from a crowd.

    The tables agree where they overlap, so any of them will do.

    >>> paper_number("Birdsong", 2, "MA+SP")
    (0.665, 0.024)
    """
    for content in paper_tables().values():
        numbers = content.get(data, {}).get(method, [])
        if len(numbers) >= max(r, 1):
            return numbers[max(r, 1) - 1]
    return None
