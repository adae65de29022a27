"""What the learner has seen, counted for tasks such as “try all four”; it stands in the address as `seen`."""

import re

from ui.frame.address import Bound

_WORD = re.compile(r"[a-z0-9_ ]{1,30}\.[a-z0-9_ ]{1,30}")
MOST = 60


def collected(name: str, item: object) -> int:
    """Add to what the learner has seen; how many different things of that name it is now."""
    seen, word = read_collected(), f"{name}.{item}"
    if word not in seen.value():
        seen.set([*seen.value(), word][-MOST:])
    return count_collected(name)


def count_collected(name: str) -> int:
    """How many different things of that name the learner has seen."""
    return sum(word.startswith(f"{name}.") for word in read_collected().value())


def read_collected() -> Bound[list[str]]:
    """All of it."""
    return Bound("seen", "Things seen", [], _read, ",".join, instead="nothing")


def _read(asked: list[str]) -> list[str]:
    words = ",".join(asked).split(",")
    if len(words) > MOST or not all(_WORD.fullmatch(word) for word in words):
        raise ValueError
    return words
