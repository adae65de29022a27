"""Widgets whose value stands in the address, so that a link restores the page. All bound widgets are made here."""

import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, TypeVar

import streamlit as st

from ui.frame import address, texts
from ui.frame.markdown import escape

T = TypeVar("T")
N = TypeVar("N", int, float)
Shape = Literal["buttons", "pills", "list"]
_BOUND: Any = {"bind": "query-params"}
_KEPT: Any = {"persist_state": "session"}
"""Streamlit binds what a person reads to the address; links hold ids, so these widgets are followed here."""


def one_of(
    label: str,
    options: Sequence[T],
    key: str,
    default: T | None = None,
    title: Callable[[T], str] = str,
    shape: Shape = "buttons",
    label_hidden: bool = False,
    gone: Mapping[str, str] = MappingProxyType({}),
    **look: Any,
) -> T:
    """One of some options, always: `default`, or the first, until somebody chooses. `title` is what a person reads.

    `gone` says of options that older links may name why they are not here any more.

    Buttons and pills without a `default` start with what `st.session_state[key]` was given.
    """
    instead = options[0] if default is None else default
    by_name = _by_name(options, title)
    shown = escape(title(instead)) if shape == "list" else title(instead)  # buttons and pills are Markdown already
    why_not = gone.get(address.everything().get(key, ""), texts.NOT_HERE)
    address.look_at(key, label, lambda asked: len(asked) == 1 and asked[0] in by_name, why_not, shown)
    asked = address.newly_asked(key)
    if asked is not None:
        st.session_state[key] = by_name.get(asked[0], instead) if asked else instead
    look["label_visibility"] = "collapsed" if label_hidden else "visible"
    chosen: T | None
    if shape == "list":
        start_index = list(options).index(instead) if asked is None else 0
        chosen = st.selectbox(label, options, start_index, format_func=title, key=key, **_KEPT, **look)
    else:
        widget = st.segmented_control if shape == "buttons" else st.pills
        look = {"required": True, "wrap": True, "format_func": title, **look}
        start = None if key in st.session_state else default  # Streamlit complains where both are given
        chosen = widget(label, options, default=start, key=key, **_KEPT, **look)
    chosen = chosen if chosen in options else instead
    address.hold(key, [] if chosen == instead else [str(chosen)])
    return chosen


def maybe_one_of(label: str, options: Sequence[T], key: str, title: Callable[[T], str] = str) -> T | None:
    """One of some options or none."""
    by_name = _by_name(options, title)
    fits = ("", *by_name)
    address.look_at(key, label, lambda asked: len(asked) == 1 and asked[0] in fits, texts.NOT_HERE, texts.NOTHING)
    if (asked := address.newly_asked(key)) is not None:
        st.session_state[key] = by_name.get(asked[0]) if asked else None
    chosen: T | None = st.pills(label, options, format_func=title, wrap=True, key=key, **_KEPT)
    address.hold(key, [] if chosen is None else [str(chosen)])
    return chosen


def some_of(
    label: str,
    options: Sequence[T],
    key: str,
    default: Sequence[T],
    title: Callable[[T], str] = str,
    label_hidden: bool = False,
) -> list[T]:
    """Any number of some options, in their order."""
    by_name = _by_name(options, title)
    instead = ", ".join(title(option) for option in default)
    address.look_at(
        key,
        label,
        lambda asked: asked == [""] or (set(asked) <= by_name.keys() and len(set(asked)) == len(asked)),
        texts.NOT_HERE,
        instead,
    )
    asked = address.newly_asked(key)
    if asked is not None:
        st.session_state[key] = [by_name[name] for name in asked if name in by_name] if asked else list(default)
    visible: Any = "collapsed" if label_hidden else "visible"
    picked = st.pills(
        label, options, selection_mode="multi", default=list(default) if asked is None else None, format_func=title,
        key=key, label_visibility=visible, **_KEPT,
    )  # fmt: skip
    chosen = [option for option in options if option in picked]
    is_default = chosen == [option for option in options if option in default]
    address.hold(key, [] if is_default else [str(option) for option in chosen] or [""])
    return chosen


def _by_name(options: Sequence[T], title: Callable[[T], str]) -> dict[str, T]:
    """Options by what a link may call them: their ids, or their titles, which older links hold."""
    return {title(option): option for option in options} | {str(option): option for option in options}


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


def number_fits(asked: Sequence[str], low: N, high: N, start: N) -> bool:
    """Whether a link asks for one finite number within the limits, a whole one where `start` is whole."""
    try:
        value = float(asked[0])
    except ValueError:
        return False
    whole = not isinstance(start, int) or value.is_integer()
    return len(asked) == 1 and math.isfinite(value) and low <= value <= high and whole


def _look_at_number(label: str, low: N, high: N, start: N, key: str) -> None:
    may_be, instead = texts.number_between(low, high), escape(f"{start:g}")
    address.look_at(key, label, lambda asked: number_fits(asked, low, high, start), may_be, instead)
