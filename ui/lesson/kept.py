"""The lesson's widgets. Their values outlive other steps, other pages and a reload, in session and address."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import streamlit as st

from ui.frame.address import Bound, named, number_from, on_or_off
from ui.frame.choices import Shape

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


def show_slider(key: str, label: str, low: int, high: int, start: int, **look: Any) -> int:
    """A number to slide."""
    return number(key, label, low, high, start).shown_by(st.slider, low, high, **look)


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
