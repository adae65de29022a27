"""The one place that reads the address: what a link asks for, held against what the page has.

Streamlit fills widgets from the address itself, but it drops what it does not know in silence and trips over empty and
infinite values. So each value is looked at once, before its widget is made. One that does not fit is taken out of the
address, a sentence says so, and the page runs again with the default. Keys that the page never reads are named, too.
A page reads some keys only in some states, so the list of keys can't be collected while it runs; a test compares.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, Generic, TypeVar

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.state.common import user_key_from_element_id

from bag_generators.base.errors import printable
from elimipl_app.shell import texts
from elimipl_app.shell.markdown import escape

T = TypeVar("T")
N = TypeVar("N", int, float)
Reader = Callable[[list[str]], T]
"""Gives what the values under a key stand for; a `ValueError` or `KeyError` says that they don't fit."""
_PAGE, _LOOKED_AT, _NOTICES, _RUNS_AGAIN = "address_page", "address_looked_at", "address_notices", "address_runs_again"
_FOLLOWED, _FIRST_PAGE = "address_followed", "address_first_page"
LONGEST_SHOWN = 40  # characters of a value in a sentence
MOST_NAMED = 3  # values or keys in a sentence
_ON_OFF = {"true": True, "false": False}

KEYS: dict[str, tuple[str, ...]] = {
    "Explore": (
        "picture", "sample", "generator", "labels", "method", "weights", "map", "map_class", "beside", "opacity",
        "threshold", "painted", "colours", "outlines", "tool", "candidates_*", "crowd_seed", "raw", "microns*", "whole",
        "part", "x", "y", "removed", "lens",
    ),
    "Batch": ("generator", "labels", "method", "folder"),
    "Slide": ("slide", "generator", "labels", "method"),
    "Bag generators": ("picture", "sample", "follow", "instance", "unit"),
    "Lesson: dual inexact supervision": (
        "step", "done", "seen", "hide", "class", "say_*", "open_*", "kind", "picture", "cut", "pick", "hide_instances",
        "marks", "check_marks", "hide_true", "r", "draw", "as_machine", "rows", "guess", "shown", "r_digits",
        "r_birdsong", "bags", "epoch_attention", "digit", "scores_of", "temperature", "instance", "bag", "epoch", "mu",
        "gamma", "steps", "start", "loss", "sparsity", "from", "inhibit", "steps_down", "field",
        "named",
    ),
    "Class": ("join", "class_generator"),
    "Compare models": ("compare_*",),
    "Results": ("results_*",),
    "Train": ("train_*",),
    "Doctor": (),
}  # fmt: skip
"""By the page's title; a star stands for the part that depends on another choice."""


def start_reading(page: str) -> None:
    """Call first on every page. What was wrong with a link is shown until the page runs for another reason."""
    state = st.session_state
    if state.get(_PAGE) != page:
        state[_FIRST_PAGE] = _PAGE not in state
        state[_PAGE], state[_LOOKED_AT], state[_NOTICES] = page, set(), []
        state[_FOLLOWED] = set()
        _drop_unknown_keys(page)
    elif not state.get(_RUNS_AGAIN):
        state[_NOTICES] = []
    state[_RUNS_AGAIN] = False


def show_notices() -> None:
    """What the link asked for in vain, a sentence each."""
    if st.session_state[_NOTICES]:
        st.info("  \n".join(st.session_state[_NOTICES]), icon=":material/link_off:")


def named(options: Mapping[str, T]) -> Reader[T]:
    """One of some options, by name."""
    return lambda asked: options[_only(asked)]


def on_or_off(asked: list[str]) -> bool:
    """What a link asks of a switch."""
    return _ON_OFF[_only(asked).lower()]


def number_from(low: N, high: N, start: N) -> Reader[N]:
    """A finite number within the limits, a whole one where `start` is whole."""

    def read(asked: list[str]) -> N:
        value = float(_only(asked))
        if not low <= value <= high or (isinstance(start, int) and not value.is_integer()):
            raise ValueError
        return type(start)(value)

    return read


def fits(read: Reader[T], asked: list[str]) -> bool:
    """Whether a link asks for something that is there."""
    try:
        read(asked)
    except (ValueError, KeyError):
        return False
    return True


def look_at(key: str, label: str, read: Reader[T], instead: str, why_not: str = texts.NOT_HERE) -> None:
    """Check what the address asks for under `key`, once; `instead` is shown where it does not fit."""
    looked_at = st.session_state.setdefault(_LOOKED_AT, set())
    if key in looked_at:
        return
    looked_at.add(key)
    values = st.query_params.get_all(key)
    if values and not fits(read, values):
        _refuse(key, refusal_notice(label, values, why_not, instead))


class Bound(Generic[T]):
    """One value under `key` in the address and under `slot` in the session; `start` is left out of the address.

    `read` and `write` are its form there. It can be read where its widget is not shown: in another step of the lesson,
    or for a class that sees no controls. `instead` is what a sentence calls the start.
    """

    def __init__(
        self, key: str, label: str, start: T, read: Reader[T], write: Callable[[T], str | list[str]] = str,
        slot: str = "", instead: str = "", why_not: str = texts.NOT_HERE,
    ) -> None:  # fmt: skip
        self.key, self.label, self.start, self.slot = key, label, start, slot or f"kept-{key}"
        self._read, self._write = read, write
        look_at(key, label, read, instead or escape(str(write(start))), why_not)

    def follow(self) -> bool:
        """Take over what a link that was just followed asks for; whether there was one."""
        asked = newly_asked(self.key)
        if asked is not None:
            st.session_state[self.slot] = self._read(asked) if asked and fits(self._read, asked) else self.start
        return asked is not None

    def hold(self, chosen: T) -> None:
        """Let the address say what is chosen."""
        written = [] if chosen == self.start else self._write(chosen)
        hold(self.key, [written] if isinstance(written, str) else written)

    def value(self) -> T:
        """What is chosen: by a link that was just followed, else before, else the start."""
        self.follow()
        chosen: T = st.session_state.setdefault(self.slot, self.start)
        self.hold(chosen)
        return chosen

    def set(self, chosen: T) -> None:
        """Choose something else for the next run."""
        st.session_state[self.slot] = chosen

    def shown_by(self, widget: Callable[..., Any], *args: Any, **look: Any) -> T:
        """Show the value with a Streamlit widget, which changes it and may be gone from the next page."""
        shown = f"{self.key}-widget"
        st.session_state[shown] = self.value()

        def take() -> None:
            chosen = st.session_state[shown]
            self.set(self.start if chosen is None else chosen)

        widget(self.label, *args, key=shown, on_change=take, **look)
        return self.value()


def newly_asked(key: str) -> list[str] | None:
    """What the address asks for under `key` when a page is opened, or after the browser's back and forward buttons.

    None at all other times: a person who has chosen since knows better, also one whose choice reaches a server that
    was started again and has not shown the page yet. No values mean the default.
    """
    followed = st.session_state.setdefault(_FOLLOWED, set())
    context = get_script_run_ctx()
    by_history = context is not None and context.is_history_navigation
    if not by_history and (key in followed or _brought_along(key)):
        return None
    values = list(st.query_params.get_all(key))
    return values if values or by_history else None


def settle(key: str) -> None:
    """Call when what the address asked for is done: not before, for a run that is broken off would lose it."""
    st.session_state.setdefault(_FOLLOWED, set()).add(key)


def _brought_along(key: str) -> bool:
    """Whether the browser sent the value of this widget with the first page of a visit, as it does to a new server."""
    context = get_script_run_ctx()
    if context is None or not st.session_state.get(_FIRST_PAGE):
        return False
    sent = list(context.session_state._state._new_widget_state)
    return any(user_key_from_element_id(name) == key for name in sent)


def hold(key: str, values: Sequence[str]) -> None:
    """Let the address say what is chosen; nothing stands for the default."""
    settle(key)
    if list(st.query_params.get_all(key)) == list(values):
        return
    if values:
        st.query_params[key] = list(values)
    else:
        del st.query_params[key]


def one_name(key: str, label: str, names: Sequence[str]) -> str:
    """The name under a key that belongs to no widget; the first of `names` where there is none or an unknown one."""
    looked_up = st.query_params.get(key, names[0])
    if looked_up in names:
        return looked_up
    _refuse(key, refusal_notice(label, [looked_up], texts.NOT_HERE, escape(names[0])))
    return names[0]


def some_names(key: str, label: str, names: Sequence[str]) -> list[str]:
    """The names under such a key, parted by commas, in the order of `names`."""
    asked = [name for name in st.query_params.get(key, "").split(",") if name]
    if unknown := [name for name in asked if name not in names]:
        _refuse(
            key,
            refusal_notice(label, unknown, texts.NOT_HERE, "nothing"),
            [name for name in asked if name in names],
        )
    return [name for name in names if name in asked]


def write(key: str, value: str) -> None:
    """Put a value under a key that belongs to no widget."""
    st.query_params[key] = value


def everything() -> dict[str, str]:
    """All keys and values of the address as they are now."""
    return st.query_params.to_dict()


def unknown_keys(page: str, asked: list[str]) -> list[str]:
    """Those of the keys in a link that the page never reads; none where nobody listed the keys of the page."""
    if page not in KEYS:
        return []
    return [key for key in asked if not any(fnmatchcase(key, known) for known in KEYS[page])]


def _only(asked: list[str]) -> str:
    (text,) = asked
    return text


def _drop_unknown_keys(page: str) -> None:
    """Take the keys that nothing on the page reads out of the address, and say so."""
    unknown = unknown_keys(page, list(st.query_params))
    for key in unknown:
        del st.query_params[key]
    if unknown:
        st.session_state[_NOTICES] = [unknown_notice(unknown)]


def _refuse(key: str, notice: str, kept: Sequence[str] = ()) -> None:
    """Take a value out of the address and run the page again, so that its widget never sees it."""
    if kept:
        st.query_params[key] = ",".join(kept)
    else:
        del st.query_params[key]
    st.session_state[_NOTICES] = [*st.session_state.get(_NOTICES, ()), notice]
    st.session_state[_RUNS_AGAIN] = True
    st.rerun()


def refusal_notice(label: str, values: Sequence[str], may_be: str, instead: str) -> str:
    """The sentence on values that do not fit: `may_be` says what would, `instead` what is shown."""
    asked = ", ".join(f"“{escape(_shortened(value))}”" for value in values[:MOST_NAMED])
    return texts.link_asks(escape(label), asked if any(values) else "", may_be, instead)


def unknown_notice(keys: Sequence[str]) -> str:
    """The sentence on keys that no widget reads, which names a few of them where there are many."""
    named = ", ".join(f"“{escape(_shortened(key))}”" for key in keys[:MOST_NAMED])
    return texts.link_sets(named, len(keys), len(keys) - MOST_NAMED)


def _shortened(value: str) -> str:
    plain = printable(value)
    return plain if len(plain) <= LONGEST_SHOWN else f"{plain[: LONGEST_SHOWN - 1]}…"
