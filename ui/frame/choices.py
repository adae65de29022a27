"""Widgets whose value stands in the address, so that a link restores the page. All bound widgets are made here."""

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeVar

import streamlit as st

from ui.frame import address, texts
from ui.frame.markdown import escape

T = TypeVar("T")
N = TypeVar("N", int, float)
Shape = Literal["buttons", "pills", "list"]
_BOUND: Any = {"bind": "query-params"}


def one_of(
    label: str,
    options: Sequence[T],
    key: str,
    default: T | None = None,
    title: Callable[[T], str] = str,
    shape: Shape = "buttons",
    label_hidden: bool = False,
    **look: Any,
) -> T:
    """One of some options, always: `default`, or the first, until somebody chooses. `title` is what the address shows.

    Buttons and pills without a `default` start with what `st.session_state[key]` was given.
    """
    instead = options[0] if default is None else default
    titles = [title(option) for option in options]
    shown = escape(title(instead)) if shape == "list" else title(instead)  # buttons and pills are Markdown already
    address.look_at(key, label, lambda asked: len(asked) == 1 and asked[0] in titles, texts.NOT_HERE, shown)
    look["label_visibility"] = "collapsed" if label_hidden else "visible"
    chosen: T | None
    if shape == "list":
        start_index = list(options).index(instead)
        chosen = st.selectbox(label, options, start_index, format_func=title, key=key, **_BOUND, **look)
    else:
        widget = st.segmented_control if shape == "buttons" else st.pills
        look = {"required": True, "wrap": True, "format_func": title, **look}
        chosen = widget(label, options, default=default, key=key, **_BOUND, **look)
    return chosen if chosen in options else instead


def maybe_one_of(label: str, options: Sequence[T], key: str, title: Callable[[T], str] = str) -> T | None:
    """One of some options or none."""
    titles = ["", *(title(option) for option in options)]
    address.look_at(key, label, lambda asked: len(asked) == 1 and asked[0] in titles, texts.NOT_HERE, texts.NOTHING)
    return st.pills(label, options, format_func=title, wrap=True, key=key, **_BOUND)


def some_of(
    label: str,
    options: Sequence[T],
    key: str,
    default: Sequence[T],
    title: Callable[[T], str] = str,
    label_hidden: bool = False,
) -> list[T]:
    """Any number of some options, in their order."""
    titles = [title(option) for option in options]
    instead = ", ".join(title(option) for option in default)
    address.look_at(
        key,
        label,
        lambda asked: asked == [""] or (set(asked) <= set(titles) and len(set(asked)) == len(asked)),
        texts.NOT_HERE,
        instead,
    )
    visible: Any = "collapsed" if label_hidden else "visible"
    chosen = st.pills(
        label, options, selection_mode="multi", default=list(default), format_func=title, key=key,
        label_visibility=visible, **_BOUND,
    )  # fmt: skip
    return [option for option in options if option in chosen]


def number(label: str, low: N, high: N, start: N, key: str, step: N | None = None, **look: Any) -> N:
    """A number to type."""
    _look_at_number(label, low, high, start, key)
    value: Any = "min" if start == low else start  # an explicit start would forbid setting st.session_state[key]
    return st.number_input(label, low, high, value, step, key=key, **_BOUND, **look)


def slider(label: str, low: N, high: N, start: N, key: str, step: N | None = None, **look: Any) -> N:
    """A number to slide."""
    _look_at_number(label, low, high, start, key)
    return st.slider(label, low, high, start, step, key=key, **_BOUND, **look)


def stage(label: str, stages: Sequence[T], key: str) -> T:
    """One of some stages in their order, the first one at first."""
    titles = [str(one) for one in stages]
    address.look_at(key, label, lambda asked: len(asked) == 1 and asked[0] in titles, texts.NOT_HERE, titles[0])
    return st.select_slider(label, stages, key=key, **_BOUND)


def switch(label: str, key: str, on: bool = False, **look: Any) -> bool:
    """On or off."""
    address.look_at(
        key,
        label,
        lambda asked: len(asked) == 1 and asked[0].lower() in ("true", "false"),
        texts.ON_OR_OFF,
        texts.SWITCHED[on],
    )
    return st.toggle(label, value=on, key=key, **_BOUND, **look)


def _look_at_number(label: str, low: N, high: N, start: N, key: str) -> None:
    def fits(asked: list[str]) -> bool:
        try:
            value = float(asked[0])
        except ValueError:
            return False
        whole = not isinstance(start, int) or value.is_integer()
        return len(asked) == 1 and math.isfinite(value) and low <= value <= high and whole

    address.look_at(key, label, fits, texts.number_between(low, high), escape(f"{start:g}"))
