"""Widgets whose value stands in the address, so that a link restores the page. All bound widgets are made here."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, TypeVar

import streamlit as st

from elimipl_app.shell import address, texts
from elimipl_app.shell.address import Bound, N
from elimipl_app.shell.markdown import escape

T = TypeVar("T")
Shape = Literal["buttons", "pills", "list"]
_BOUND: Any = {"bind": "query-params", "persist_state": "session"}
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
    shown = escape(title(instead)) if shape == "list" else title(instead)  # buttons and pills are Markdown already
    why_not = gone.get(address.everything().get(key, ""), texts.NOT_HERE)
    bound = Bound(key, label, instead, address.named(_by_name(options, title)), str, key, shown, why_not)
    followed = bound.follow()
    look["label_visibility"] = "collapsed" if label_hidden else "visible"
    chosen: T | None
    if shape == "list":
        start_index = list(options).index(instead) if not followed else 0
        chosen = st.selectbox(label, options, start_index, format_func=title, key=key, **_KEPT, **look)
    else:
        widget = st.segmented_control if shape == "buttons" else st.pills
        look = {"required": True, "wrap": True, "format_func": title, **look}
        start = None if key in st.session_state else default  # Streamlit complains where both are given
        if st.session_state.get(key) in options:  # else a browser that missed a run shows nothing chosen
            st.session_state[key] = st.session_state[key]
        chosen = widget(label, options, default=start, key=key, **_KEPT, **look)
    chosen = chosen if chosen in options else instead
    bound.hold(chosen)
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

    def read(asked: list[str]) -> list[T]:
        if len(set(asked)) != len(asked):
            raise ValueError
        return [] if asked == [""] else [by_name[name] for name in asked]

    def write(chosen: list[T]) -> list[str]:
        return [str(option) for option in chosen] or [""]

    start = [option for option in options if option in default]
    bound = Bound(key, label, start, read, write, key, ", ".join(title(option) for option in default))
    followed = bound.follow()
    visible: Any = "collapsed" if label_hidden else "visible"
    picked = st.pills(
        label, options, selection_mode="multi", default=None if followed else start, format_func=title,
        key=key, label_visibility=visible, **_KEPT,
    )  # fmt: skip
    chosen = [option for option in options if option in picked]
    bound.hold(chosen)
    return chosen


def _by_name(options: Sequence[T], title: Callable[[T], str]) -> dict[str, T]:
    """Options by what a link may call them: their ids, or their titles, which older links hold."""
    return {title(option): option for option in options} | {str(option): option for option in options}


def number(label: str, low: N, high: N, start: N, key: str, step: N | None = None, **look: Any) -> N:
    """A number to type."""
    address.look_at(key, label, address.number_from(low, high, start), escape(f"{start:g}"))
    value: Any = "min" if start == low else start  # an explicit start would forbid setting st.session_state[key]
    return st.number_input(label, low, high, value, step, key=key, **_BOUND, **look)


def slider(label: str, low: N, high: N, start: N, key: str, step: N | None = None, **look: Any) -> N:
    """A number to slide."""
    address.look_at(key, label, address.number_from(low, high, start), escape(f"{start:g}"))
    return st.slider(label, low, high, start, step, key=key, **_BOUND, **look)


def switch(label: str, key: str, on: bool = False, **look: Any) -> bool:
    """On or off."""
    address.look_at(key, label, address.on_or_off, "“on”" if on else "“off”")
    return st.toggle(label, value=on, key=key, **_BOUND, **look)
