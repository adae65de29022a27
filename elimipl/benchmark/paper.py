"""The numbers that are printed: `paper.json` holds the paper's tables 2 to 5, A1, A2, A4 and A5, and of CDL's tables 2
and 3 what they say about methods since; table → data → method → r.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from bag_generators.validation import read_json, validated

Number = tuple[float, float]
"""Mean and standard deviation of the accuracy over ten splits."""
Tables = dict[str, dict[str, dict[str, list[Number | None]]]]

_FILE = Path(__file__).with_name("paper.json")


@lru_cache(maxsize=1)
def paper_tables() -> Tables:
    """Table → data → method → one number for each r (benchmark sets: 1, 2, 3); None is the paper's “--”."""
    called = "The list of the paper's numbers “paper.json”"
    return validated(Tables, read_json(_FILE, called), called)


def paper_number(data: str, r: int, method: str) -> Number | None:
    """What the paper reports for a method on its data set `data` (CDL's for methods since).

    r is 0 where candidate sets come from a crowd.

    The tables agree where they overlap, so any of them will do.

    >>> paper_number("Birdsong", 2, "MA+SP")
    (0.665, 0.024)
    """
    for content in paper_tables().values():
        numbers = content.get(data, {}).get(method, [])
        if len(numbers) >= max(r, 1):
            return numbers[max(r, 1) - 1]
    return None
