"""The lesson's widgets. Their values outlive other steps, other pages and a reload: in the session and in the address.

A value can be read where its widget is not shown: in another step, or for a class that sees no controls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, Literal, TypeVar

import streamlit as st

from ui.frame import address, texts
from ui.frame.choices import number_fits
from ui.frame.markdown import escape

T = TypeVar("T")
Shape = Literal["buttons", "pills", "list"]


class Kept(Generic[T]):
    """One value under `key` in the address; `read` and `write` are its form there, `start` is left out of it."""

    def __init__(
        self, key: str, label: str, start: T, read: Callable[[str], T], fits: Callable[[list[str]], bool], may_be: str,
        write: Callable[[T], str] = str,
    ) -> None:  # fmt: skip
        self.key, self.label, self.start = key, label, start
        self._read, self._write = read, write
        self.slot, self.widget = f"kept-{key}", f"{key}-widget"
        address.look_at(key, label, fits, may_be, escape(write(start)))

    def value(self) -> T:
        """What is chosen: by a link that was just followed, else before, else the start."""
        asked = address.newly_asked(self.key)
        if asked is not None:
            st.session_state[self.slot] = self._read(asked[0]) if asked else self.start
        chosen: T = st.session_state.setdefault(self.slot, self.start)
        address.hold(self.key, [] if chosen == self.start else [self._write(chosen)])
        return chosen

    def set(self, chosen: T) -> None:
        """Choose something else for the next run."""
        st.session_state[self.slot] = chosen

    def shown_by(self, widget: Callable[..., Any], *args: Any, **look: Any) -> T:
        """Show the value with a Streamlit widget, which changes it."""
        st.session_state[self.widget] = self.value()
        widget(self.label, *args, key=self.widget, on_change=self._take, **look)
        return self.value()

    def _take(self) -> None:
        chosen = st.session_state[self.widget]
        self.set(self.start if chosen is None else chosen)


def number(key: str, label: str, low: int, high: int, start: int) -> Kept[int]:
    """A whole number from `low` to `high`."""
    fits = lambda asked: number_fits(asked, low, high, start)  # noqa: E731
    return Kept(key, label, start, lambda text: int(float(text)), fits, texts.number_between(low, high))


def switch(key: str, label: str) -> Kept[bool]:
    """On or off; off at first."""
    return Kept(key, label, False, lambda text: text.lower() == "true",
                lambda asked: len(asked) == 1 and asked[0].lower() in ("true", "false"), texts.ON_OR_OFF,
                lambda on: str(on).lower())  # fmt: skip


def choice(key: str, label: str, options: Sequence[T], start: T) -> Kept[T]:
    """One of some options, which stand in the address as they print."""
    by_name = {str(option): option for option in options}
    fits = lambda asked: len(asked) == 1 and asked[0] in by_name  # noqa: E731
    return Kept(key, label, start, by_name.__getitem__, fits, texts.NOT_HERE)


def numbers(key: str, label: str, below: int) -> Kept[tuple[int, ...]]:
    """Some of the whole numbers from 0, parted by dots in the address; none at first."""
    allowed = {str(n) for n in range(below)}
    return Kept(
        key, label, (), lambda text: tuple(int(part) for part in text.split(".") if part),
        lambda asked: len(asked) == 1 and set(asked[0].split(".")) <= allowed, texts.NOT_HERE,
        lambda chosen: ".".join(map(str, chosen)),
    )  # fmt: skip


def show_switch(key: str, label: str, **look: Any) -> bool:
    """A toggle."""
    return switch(key, label).shown_by(st.toggle, **look)


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
