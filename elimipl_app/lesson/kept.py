"""The lesson's widgets and what the learner has seen: they outlive other steps, other pages and a reload.

What was seen is counted for tasks such as “try all four”; it stands in the address as `seen`.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import streamlit as st

from elimipl_app.shell.address import Bound, named, number_from, on_or_off
from elimipl_app.shell.choices import Shape

T = TypeVar("T")


def number(key: str, label: str, low: int, high: int, start: int) -> Bound[int]:
    """A whole number from `low` to `high`."""
    return Bound(key, label, start, number_from(low, high, start))


def choice(key: str, label: str, options: Sequence[T], start: T) -> Bound[T]:
    """One of some options, which stand in the address as they print."""
    return Bound(key, label, start, named({str(option): option for option in options}))


def numbers(key: str, label: str, below: int) -> Bound[tuple[int, ...]]:
    """Some of the whole numbers from 0, parted by dots in the address; none at first."""
    by_name = {str(n): n for n in range(below)}
    return Bound(
        key, label, (), lambda asked: tuple(by_name[part] for part in ".".join(asked).split(".")),
        lambda chosen: ".".join(map(str, chosen)),
    )  # fmt: skip


def show_switch(key: str, label: str, **look: Any) -> bool:
    """A toggle, off at first."""
    return Bound(key, label, False, on_or_off, lambda on: str(on).lower()).shown_by(st.toggle, **look)


def show_choice(
    key: str, label: str, options: Sequence[T], start: T, title: Callable[[T], str] = str, shape: Shape = "buttons",
    **look: Any,
) -> T:  # fmt: skip
    """One of some options, always."""
    kept = choice(key, label, options, start)
    if shape == "list":
        return kept.shown_by(st.selectbox, options, format_func=title, **look)
    widget = st.segmented_control if shape == "buttons" else st.pills
    return kept.shown_by(widget, options, format_func=title, wrap=True, required=True, **look)


_WORD = re.compile(r"[a-z0-9_ ]{1,30}\.[a-z0-9_ ]{1,30}")
MOST_SEEN = 60


def collected(name: str, item: object) -> int:
    """Add to what the learner has seen; how many different things of that name it is now."""
    seen, word = read_collected(), f"{name}.{item}"
    if word not in seen.value():
        seen.set([*seen.value(), word][-MOST_SEEN:])
    return count_collected(name)


def count_collected(name: str) -> int:
    """How many different things of that name the learner has seen."""
    return sum(word.startswith(f"{name}.") for word in read_collected().value())


def read_collected() -> Bound[list[str]]:
    """All of it."""
    return Bound("seen", "Things seen", [], _read_seen, ",".join, instead="nothing")


def _read_seen(asked: list[str]) -> list[str]:
    words = ",".join(asked).split(",")
    if len(words) > MOST_SEEN or not all(_WORD.fullmatch(word) for word in words):
        raise ValueError
    return words
